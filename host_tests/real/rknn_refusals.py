# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Files that the runtime of a board cannot load, by our port: what is raised, in which words, and
what stays."""

import ctypes
import os
import sys

from rknn_board import tell

FILES = {
    "good": "rk3588_two_inputs_1.5.rknn",
    "other chip": "rk3568_two_inputs.rknn",
    "toolkit 1": "rk1808_resize.rknn",
    "newer": "rk3588_segment.rknn",
}


def main():
    sys.path.insert(0, os.path.join(sys.argv[1], "lib"))
    import maixmem_rknn

    port = maixmem_rknn.Port(ctypes.CDLL("librknnrt.so"), soc="rk3588", budget=64 << 20)
    for what, name in FILES.items():
        path = os.path.join(os.environ["BENCH"], "models", name)
        try:
            port.unload(port.load(path))
            tell(what, "loaded", "")
        except Exception as e:
            tell(what, type(e).__name__, str(e))
    tell("live", port.used)
    sys.stdout.flush()
    os._exit(0)


main()
