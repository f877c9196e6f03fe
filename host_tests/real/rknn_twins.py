# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a program sees when the driver runs out of memory within Port.dup(), at each allocation and
all later ones.

rknn_twins.py ROOT VERSION [FOLDER]
"""

import os
import sys

from rknn_board import board, tell

sys.path[:0] = [os.path.join(sys.argv[1], "lib")]


def main():
    import maixmem_rknn

    there, _ = board()
    port = maixmem_rknn.Port(there.lib, soc="rk3588", budget=64 << 20)
    first = port.load(there.path("two"), dup=True)
    twin, k = None, 0
    while twin is None:
        k += 1
        live, used = there.live(), port.used
        there.fail(k)
        try:
            twin = port.dup(first)
        except Exception as e:
            tell("short", k, type(e).__name__, there.live() - live, port.used - used)
        there.fail(0)
    for model in (twin, first):
        model.run(*[bytes(tensor.packed) for tensor in model.inputs])
    port.unload(twin)
    port.unload(first)
    tell("end", there.live(), there.held(), there.bad(), there.live() <= port.used, port.used)


main()
