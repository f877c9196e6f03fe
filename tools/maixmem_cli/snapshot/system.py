# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The system heap of a K210 over its cable: of its RAM the few pages that malloc's lists are in,
so that heap/heaps.py finds it there as in all of RAM."""

from __future__ import annotations

from k210_model.heap import RAM_END, RAM_START

from maixmem_cli.heap import heaps
from maixmem_cli.heap.memory import Pages

PLATFORMS = ("MaixPy",)  #: whose system heap is newlib's, in the same RAM
_STEP = 512  # bytes between two probes: less than the table of malloc's lists has
_FAR = 1 << 17  # bytes below sys.modules that the table may be away
_TABLE = 16 * heaps.BINS + 16  # bytes
_NEAR = 4096  # bytes behind its beginning that have the first chunk's address
_MOST = 20000  # chunks


def read(memory: Pages, modules: int) -> heaps.SystemHeap | None:
    """By the table of malloc, which is below sys.modules. None: not found, or its lists are not
    whole at this moment."""
    first = modules - modules % 16
    probed = range(first, max(first - _FAR, RAM_START + _TABLE), -_STEP)
    for at in probed:
        memory.need(at, 32)
    memory.fetch()
    for at in probed:
        if memory.word(at) in (at - 16, at - 24):  # the first or second word of an empty list
            found = _around(memory, at)
            if found:
                return found
    return None


def _around(memory: Pages, at: int) -> heaps.SystemHeap | None:
    """With the table that has this address in it."""
    low, high = max(at - _TABLE, RAM_START), at + _TABLE
    memory.need(low, high + _NEAR - low)
    memory.fetch()
    words = {a: memory.word(a) for a in range(low, high + _NEAR, 8)}
    empty = [a for a in range(low + 16, high, 8) if words[a] == words[a + 8] == a - 16]
    tops = {words[a - 16] for a in empty} - {a - 16 for a in words}
    starts = sorted(s for s in {*words.values()} if at < s < RAM_END and not s % 16)
    for top in (t for t in tops if at < t < RAM_END and not t % 16):
        for start in starts:
            if start < top and _walk(memory, start, top):
                return _found(memory)
    return None


def _walk(memory: Pages, start: int, top: int) -> bool:
    """Brings the heads of all chunks; whether they lead to the top one."""
    at = start
    for _ in range(_MOST):
        memory.need(at, 32)
        memory.fetch()
        if at == top:
            return True
        size = memory.word(at + 8) & ~7
        if size < 32 or size & 15 or at + size > top:
            return False
        at += size
    return False


def _found(memory: Pages) -> heaps.SystemHeap | None:
    ram = bytearray(RAM_END - RAM_START)
    for at, data in memory.pages.items():
        if RAM_START <= at < RAM_END:
            ram[at - RAM_START : at - RAM_START + len(data)] = data
    try:
        return heaps.Finder().system(ram)
    except heaps.NotFound:
        return None
