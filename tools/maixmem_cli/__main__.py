# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""python -m maixmem_cli"""

from maixmem_cli.cli import main

main(prog_name="maixmem")
