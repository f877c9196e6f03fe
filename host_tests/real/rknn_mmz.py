# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Memory of the real RK_MPI_MMZ under the real librknnrt, by our port: every kind of it, every
use, and what stays."""

import ctypes
import os
import sys

from rknn_board import Real, tell

sys.path.insert(0, os.path.join(sys.argv[1], "lib"))


def main(library):
    import maixmem_rknn
    from maixmem import NoRoom
    from maixmem_rknn import mmz

    there = Real()
    port = maixmem_rknn.Port(there.lib, soc="rk3588", budget=64 << 20)
    for how in ({}, {"cached": True}):
        block = mmz.alloc(4 << 20, library=library, **how)
        by = [("fd", block)]
        if block.phys:
            cached = block.cached
            alone = maixmem_rknn.Block(block.virt, block.nbytes, phys=block.phys, cached=cached)
            by.append(("phys", alone))
        tell("block", how, block.nbytes, bool(block.phys), block.fd is not None, there.live())
        for name, memory in by:
            use(port, there, name, memory)
        block.free()
        block.free()
        tell("freed", there.live(), there.held())
    there.fail(1)
    try:
        mmz.alloc(4 << 20, library=library)
        tell("no room", "was given", "")
    except NoRoom as e:
        tell("no room", e.region, str(e))
    there.fail(0)
    try:
        mmz.alloc(4 << 20, library=library, cma=False).free()
        tell("in pieces", "was given", "")
    except NoRoom as e:
        tell("in pieces", e.region, str(e))
    tell("end", there.live(), there.held(), port.used)


def use(port, there, name, memory):
    model = port.load(there.path("two"), internal=memory)
    try:
        model.inputs[0].attach(memory, 2 << 20)
        sizes = [len(data) for data in model.run(*[b"\x5a" * t.packed for t in model.inputs])]
        there_now = ctypes.string_at(memory.virt + (2 << 20), model.inputs[0].packed)
        tell("used", name, sizes, set(there_now) == {0x5A})
    except ValueError as e:
        tell("refused", name, str(e))
    finally:
        port.unload(model)


main(sys.argv[3])
sys.stdout.flush()
os._exit(0)
