# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Makes the interpreter's heap look like the board's: what the stand-in itself takes is outside the script's books."""

import gc

try:
    import uctypes
except ImportError:  # CPython, where begin() does nothing
    pass

import k210_gc
import k210_system

_BLOCK = 32
_PIECES = (2048, 512, 128, 32)


def begin():
    """The script's books begin here. Returns what has to stay referenced."""
    if not k210_gc.NATIVE:
        return None
    return balance(k210_gc.heap.pool, k210_gc.heap.used)


# Contract.  Takes of the interpreter's heap what it has more than the board's, so that all the rest is in one piece; a
# script scatters it by itself as it does on the board.  `pool`: bytes of the board's heap; `idle`: of those, in use when
# a script begins.  Returns what has to stay referenced.  Only for MicroPython, whose objects are as large as the board's.
def balance(pool, idle):
    gc.threshold(-1)
    gc.collect()
    tail = uctypes.addressof(bytearray(_largest()))
    gc.collect()
    ballast = []
    for n in _PIECES:  # the holes of the stand-in below it
        piece = bytearray(n)
        while uctypes.addressof(piece) < tail:
            ballast.append(piece)
            piece = bytearray(n)
    piece = None
    gc.collect()
    ballast.append(bytearray(max(0, gc.mem_free() - (pool - idle) - 4 * _BLOCK)))
    gc.collect()
    k210_system.gc.hidden = gc.mem_alloc() + gc.mem_free() - pool
    return ballast


def _largest():
    """Bytes of the largest free piece."""
    low, high = 0, gc.mem_free()
    while high - low > 1024:
        n = (low + high) // 2
        try:
            bytearray(n)
            low = n
        except MemoryError:
            high = n
    gc.collect()
    return low
