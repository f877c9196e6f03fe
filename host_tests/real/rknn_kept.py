# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a program sees when the driver runs out of memory within rknn_init, after it had said that
there is enough.

rknn_kept.py ROOT VERSION [FOLDER]: a model stays, another is used while each allocation of that
use() and all later ones fail. Twice, and with memory of the runtime's own. It ends as programs do,
by the destructors of the runtime.
"""

import os
import sys

from rknn_board import board, tell

sys.path[:0] = [os.path.join(sys.argv[1], "lib")]


def main():
    import maixmem_rknn
    from maixmem_models import ModelManager

    there, _ = board()
    port = maixmem_rknn.Port(there.lib, soc="rk3588", budget=64 << 20)
    manager = ModelManager(port)
    manager.add("old", there.path("two"), pin=True)
    run(manager.use("old"))
    for how in ({}, {}, {"dynamic": True}):
        manager.add("new", there.path("two"), **how)
        starve(there, port, manager)
        run(manager.use("new"))
        tell("works", manager.state, port.warnings())
        manager.forget("new")
    manager.release_all()
    tell("left alone", port.lib.leaked_contexts)
    tell("end", there.live(), there.held(), there.bad(), port.lib.leaked_bytes, port.used)


def starve(there, port, manager):
    k, error = 0, "first"
    while error:
        k += 1
        manager.release("new")
        live, used, leaked = there.live(), port.used, port.lib.leaked_bytes
        there.fail(k)
        error = None
        try:
            manager.use("new")
        except Exception as e:
            error = type(e).__name__
        there.fail(0)
        kept, counted = there.live() - live, port.lib.leaked_bytes - leaked
        if error:
            row = (k, error, manager.state, kept, counted, port.used - used)
            tell("short", *row)
            run(manager.use("old"))


def run(net):
    net.run(*[bytes(tensor.packed) for tensor in net.raw.inputs])


main()
