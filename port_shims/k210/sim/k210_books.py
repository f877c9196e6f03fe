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
_LEFT = 1312  # bytes of what is in use then that nothing uses any more
# pieces that are free below its last block but for that, as mem_info(1) of v0.6.2_84 shows it
_LOW, _HOLE = 2048, 7136
_PIECES = (2048, 512, 128, 32)


def begin(greeted):
    """The script's books begin here, after the firmware's own main.py or without it. Returns what
    has to stay referenced."""
    if not k210_gc.NATIVE:
        return None
    pool, used = k210_gc.heap.pool, k210_gc.heap.used
    if not greeted:
        return balance(pool, used)
    ballast = balance(pool, used - _LEFT, (_LOW, _HOLE) if pool - used >= _PICTURE else (_LOW,))
    bytearray(_LEFT - BLOCK)
    return ballast


# Contract. Takes of the interpreter's heap what it has more than the board's, so that the rest is
# in one piece but for the holes that the board has; a script scatters it by itself as it does
# there. `pool`: bytes of the board's heap; `idle`: of those, in use when a script begins; `holes`:
# bytes of each. Returns what has to stay referenced. Only for MicroPython, whose objects are as
# large as the board's.
def balance(pool, idle, holes=()):
    gc.threshold(-1)
    gc.collect()
    tail = addressof(bytearray(_largest()))
    gc.collect()
    below = _filled(tail)
    books.begin()
    own = (2 + 4 * len(holes)) * BLOCK
    ballast = [below, bytearray(max(0, gc.mem_free() - (pool - idle) - own))] + [None] * len(holes)
    free = None
    for i, n in enumerate(holes):
        free = free, bytearray(n - BLOCK)
        ballast[2 + i] = bytearray(BLOCK + 1)  # two blocks: one may lie in a hole below
    free = None
    gc.collect()
    books.hidden = k210_board.ram.hidden = gc.mem_alloc() + gc.mem_free() - pool
    return ballast


def _filled(tail):
    """What takes the stand-in's holes below an address: a chain, as a list that grows would leave
    others."""
    chain = None
    for n in _PIECES:
        piece = bytearray(n)
        while addressof(piece) < tail:
            chain = chain, piece
            piece = bytearray(n)
        piece = None
        gc.collect()
    return chain


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
