# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Makes the interpreter's heap look like the board's: what the stand-in itself takes is outside
the script's books."""

import gc

try:
    from uctypes import addressof
except ImportError:  # CPython, where begin() does nothing
    pass

import k210_board
import k210_gc
from k210_garbage import books
from k210_model.gc_heap import BLOCK

_PICTURE = 2 * 320 * 240  # bytes: what the firmware's main.py draws, where there is room for it
_HOLE = 8192  # bytes that it then leaves free below its last block
_PIECES = (2048, 512, 128, 32)


def begin(greeted):
    """The script's books begin here, after the firmware's own main.py or without it. Returns what
    has to stay referenced."""
    if not k210_gc.NATIVE:
        return None
    pool, used = k210_gc.heap.pool, k210_gc.heap.used
    return balance(pool, used, _HOLE if greeted and pool - used >= _PICTURE else 0)


# Contract. Takes of the interpreter's heap what it has more than the board's, so that the rest is
# in one piece but for the hole that the board has; a script scatters it by itself as it does
# there. `pool`: bytes of the board's heap; `idle`: of those, in use when a script begins; `below`:
# bytes of the hole. Returns what has to stay referenced. Only for MicroPython, whose objects are
# as large as the board's.
def balance(pool, idle, below=0):
    gc.threshold(-1)
    gc.collect()
    tail = addressof(bytearray(_largest()))
    gc.collect()
    ballast = []
    for n in _PIECES:  # the holes of the stand-in below it
        piece = bytearray(n)
        while addressof(piece) < tail:
            ballast.append(piece)
            piece = bytearray(n)
    piece = None
    gc.collect()
    books.begin()
    ballast.append(bytearray(max(0, gc.mem_free() - (pool - idle) - 5 * BLOCK)))
    hole = bytearray(below)
    ballast.append(bytearray(1))
    del hole
    gc.collect()
    books.hidden = k210_board.ram.hidden = gc.mem_alloc() + gc.mem_free() - pool
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
