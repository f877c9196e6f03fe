# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What test_mishaps_on_firmware.py runs on the board: things that go wrong between add() and
use()."""

import gc
import os

import KPU
import maixmem
from maixmem_models import ModelManager

m = ModelManager()
A, B = 0x300000, 0x500000
bare_deinit = hasattr(KPU, "get_output")  # else it hangs without init_yolo2() before it


def ended(call, *args):
    """Prints how a call ended: a class and its text."""
    try:
        call(*args)
        print(repr(("ok", "")))
    except Exception as e:
        print(repr((type(e).__name__, str(e))))


def add(name, source, nbytes=None, **more):
    if nbytes:
        more["nbytes"] = nbytes
    m.add(name, source, **more)


def take_turns(n):
    """A switch n times, by two addresses; every third time everything is released."""
    for i in range(n):
        m.use((A, B)[i % 2])
        if i % 3 == 2:
            m.release_all()
    m.release_all()


def in_pieces(piece):
    """A report while the GC heap is free in pieces of so many bytes."""
    maixmem.report(str)
    blocks = [None] * 2000
    try:
        for i in range(2000):
            blocks[i] = bytearray(piece)
    except MemoryError:
        pass
    for i in range(0, 2000, 2):
        blocks[i] = None
    gc.collect()
    maixmem.report(str)


def swap(name, by):
    """Another file under this name."""
    os.remove(name)
    os.rename(by, name)


def wrong_picture():
    m.use(A).run(object())


def deinits(net):
    """A setup that frees its own net."""
    KPU.deinit(net.raw)
