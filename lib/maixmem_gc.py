# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The interpreter's own heap, on every MicroPython: what is used, and the largest block, without leaving a trace."""

import gc

from maixmem import Region


def gc_region(largest=None):
    """The GC heap as a Region, or None where the interpreter does not say (CPython)."""
    if not hasattr(gc, "mem_alloc"):
        return None
    used = gc.mem_alloc()
    free = gc.mem_free()
    if free < 0:  # some MicroPython ports cannot say
        return Region("gc", None, used, None)
    return Region("gc", used + free, used, free, largest)


def largest_block(limit):
    """The biggest single block of the GC heap that can be had, at most `limit` bytes, in steps of four words.

    Bisects with real allocations and gives each back at once; collects garbage. None where lists do not lie
    in the heap that gc counts, and where not even 32 words are free in one piece.
    """
    gc.collect()  # none in between
    before = gc.mem_alloc()
    try:
        block = [None] * 32
    except MemoryError:
        return None
    # 4 or 8: the rest is two list headers and [None], less than 4 for each of the 32
    word = (gc.mem_alloc() - before) // 32 & ~3
    block.clear()
    if word <= 0:
        return None
    low = 0
    high = limit // (4 * word) + 1
    while high - low > 1:
        mid = (low + high) // 2
        if _can_have(4 * mid):
            low = mid
        else:
            high = mid
    gc.collect()
    return low * 4 * word


# A list, because clear() shrinks its block where it stands. A bytearray would have to wait for a collection,
# and the collector takes stale words on the C stack for references (seen on MaixPy: 241 KiB kept alive so).
def _can_have(words):
    try:
        block = [None] * words
    except MemoryError:
        return False
    block.clear()
    return True
