# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
# For MicroPython 1.12 and later, in a board's manifest: include("path/to/maixmem/manifest.py")
# MaixPy v1 has no manifests: copy the files that package.json names to
# components/micropython/port/builtin_py of its source.
# Made by `maixmem build`, not by hand.
metadata(description='Memory on edge-AI vision boards: report, model switching, flash map, buffer pools', version='1.0.0', license="MIT")
module("maixmem.py", base_path="lib", opt=3)
module("maixmem_advice.py", base_path="lib", opt=3)
module("maixmem_arena.py", base_path="lib", opt=3)
module("maixmem_boards.py", base_path="lib", opt=3)
module("maixmem_generic.py", base_path="lib", opt=3)
module("maixmem_image.py", base_path="lib", opt=3)
module("maixmem_known_mpy.py", base_path="lib", opt=3)
module("maixmem_models.py", base_path="lib", opt=3)
module("maixmem_net.py", base_path="lib", opt=3)
module("maixmem_pool.py", base_path="lib", opt=3)
module("maixmem_pool_check.py", base_path="lib", opt=3)
module("maixmem_port.py", base_path="lib", opt=3)
module("maixmem_recover.py", base_path="lib", opt=3)
module("maixmem_report.py", base_path="lib", opt=3)
module("maixmem_status.py", base_path="lib", opt=3)
module("maixmem_text.py", base_path="lib", opt=3)
module("maixmem_using.py", base_path="lib", opt=3)
module("maixmem_watch.py", base_path="lib", opt=3)
