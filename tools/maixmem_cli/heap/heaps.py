# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The two heaps of a K210 found in its RAM, without symbols, by what their books look like.

System heap: newlib's malloc (Doug Lea's, version 2.6): 127 pairs of words that point to their own
place minus 16 while a bin is empty; the word before the first pair points to the top chunk. A
chunk is 16-aligned, its second word is its size, bit 0 says that the one before it is used. GC
heap: py/gc.c of MicroPython 1.11: two bits for each block of 32 bytes; in mp_state_mem the table's
start and length, the finaliser table right after, the pool's start and end.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from mmap import mmap
from typing import Union

from k210_model.gc_heap import BLOCK
from k210_model.heap import RAM_END, RAM_START
from maixmem_k210_chip import PAGE

from maixmem_cli.heap.blocks import FREE, HEAD, states

BINS = 127
HEAD_BYTES = 16  #: of a chunk, before the address that malloc gives
_LEAST = 32  # bytes of the smallest chunk, which stay at the top
_STACK = 1 << 16  # bytes of a damaged chunk, at most
_SOME = 3  # chunks that lead to each other by more than chance
_STATE = 8192  # bytes in front of mp_state_mem, more than mp_state_ctx has
Ram = Union[bytes, bytearray, memoryview, mmap]


class NotFound(ValueError):
    """A heap is not in this RAM, or its books do not agree: stopped in the middle of a call, or
    another firmware."""


class Damaged(NotFound):
    """The system heap was found, and a chunk of it has a size that cannot be."""


@dataclass(frozen=True)
class Chunk:
    """A piece of the system heap: `address` is what malloc gave, `size` counts its 8 bytes of head
    too."""

    address: int
    size: int
    used: bool


@dataclass(frozen=True)
class SystemHeap:
    """Every chunk from the first to the top one, which is not in the list."""

    bins: int
    base: int
    top: int
    top_size: int
    chunks: tuple[Chunk, ...]

    @property
    def end(self) -> int:
        return self.top + self.top_size

    @property
    def heap_free(self) -> int:
        """What Maix.utils.heap_free() says."""
        return RAM_END - self.end

    @property
    def used(self) -> list[Chunk]:
        return [c for c in self.chunks if c.used]

    @property
    def holes(self) -> list[Chunk]:
        return [c for c in self.chunks if not c.used]

    @property
    def largest(self) -> int:
        """Bytes of the largest block that malloc could give: a hole, or what it cuts from the top,
        which grows by whole requests: what is free in it does not count then (firmware.md)."""
        top = max(self.top_size, self.heap_free // PAGE * PAGE) - _LEAST
        return max([top, 8, *(c.size for c in self.holes)]) - 8


@dataclass(frozen=True)
class GcHeap:
    """The allocation table, one state a block."""

    table: int
    table_bytes: int
    pool: int
    states: bytes

    @property
    def total(self) -> int:
        return len(self.states) * BLOCK

    @property
    def used(self) -> int:
        """Bytes, as gc.mem_alloc() counts them."""
        return self.total - self.states.count(FREE) * BLOCK

    @property
    def free(self) -> int:
        return self.states.count(FREE) * BLOCK

    @cached_property
    def free_runs(self) -> list[tuple[int, int]]:
        """(first block, number) of each run of free blocks."""
        runs, at = [], 0
        for state, group in groupby(self.states):
            n = sum(1 for _ in group)
            if state == FREE:
                runs.append((at, n))
            at += n
        return runs

    @property
    def largest(self) -> int:
        return max((n for _, n in self.free_runs), default=0) * BLOCK


def word(ram: Ram, address: int) -> int:
    """The 64 bits at an address."""
    return struct.unpack_from("<Q", ram, address - RAM_START)[0]


_Walk = list[tuple[int, int, int]]


def _walk(ram: Ram, start: int, top: int) -> tuple[_Walk, int]:
    """(chunk, size, bit 0) of each from start; and where they lead, which is the top chunk or one
    whose size cannot be."""
    out, at = [], start
    while at < top:
        size = word(ram, at + 8)
        n = size & ~7
        if n < 32 or n & 15 or at + n > top:
            break
        out.append((at, n, size & 1))
        at += n
    return out, at


def _good_behind(ram: Ram, damaged: int, top: int) -> bool:
    """Whether some chunks close behind a damaged one lead to the top chunk."""
    for at in range(damaged + 32, min(damaged + _STACK, top), 16):
        if 32 <= word(ram, at + 8) & ~7 < top - at:
            found, end = _walk(ram, at, top)
            if end == top and len(found) >= _SOME:
                return True
    return False


def _of_damaged(ram: Ram, starts: list[int], top: int) -> list[int]:
    """The start with the most good chunks in front of a damaged one, where they, or some behind
    that, are no chance."""
    walks = [(v, *_walk(ram, v, top)) for v in starts]
    walks.sort(key=lambda walk: -len(walk[1]))
    enough = (v for v, found, end in walks if len(found) >= _SOME or _good_behind(ram, end, top))
    return next(([v] for v in enough), [])


def _rings_lead_back(words: array[int], bins: int) -> bool:
    """Of every bin the ends of its ring: bins is the address of the first pair's chunk plus 16."""
    for b in range(BINS):
        me = bins + 16 * b - 16
        i = (bins + 16 * b - RAM_START) // 8
        first, last = words[i], words[i + 1]
        if first == me and last == me:
            continue
        for chunk, field in ((first, 3), (last, 2)):
            j = (chunk - RAM_START) // 8 + field
            if not RAM_START <= chunk < RAM_END or chunk % 8 or j >= len(words) or words[j] != me:
                return False
    return True


def _in_rings(ram: Ram, bins: int) -> set[int]:
    """The free chunks that the bins lead to; of a ring that is broken those in front of it."""
    found: set[int] = set()
    for me in range(bins - 16, bins - 16 + 16 * BINS, 16):
        at = word(ram, me + 16)
        while at != me and at not in found and RAM_START <= at < RAM_END - 24 and not at % 8:
            found.add(at)
            at = word(ram, at + 16)
    return found


def _holes(walk: _Walk, behind: int) -> set[int]:
    """The free chunks of a walk; `behind`: bit 0 of the chunk that it led to."""
    following = [*(used for _, _, used in walk[1:]), behind]
    return {at for (at, _, _), used in zip(walk, following) if not used}


def _same_type(ram: Ram, first: int, second: int) -> bool:
    """Whether objects are at both, of one type."""
    if not all(RAM_START < at < RAM_END - 8 and not at % 8 for at in (first, second)):
        return False
    kind = word(ram, first)
    return RAM_START < kind < RAM_END - 8 and kind == word(ram, second)


# Remembers where the books of one firmware are: they do not move while it runs.
class Finder:
    """Reads both heaps out of RAM. `NotFound` when they are not found or not consistent at this
    moment. `places`: what another finder of the same firmware learned."""

    def __init__(self, places: Sequence[int] = ()) -> None:
        self._bins: int | None = None
        self._base: int | None = None
        self._gc_state: int | None = None
        if places:
            self._bins, self._base, self._gc_state = places

    def places(self, ram: Ram) -> list[int]:
        """Where the bins are, the first chunk, the GC heap's books."""
        found = self.system(ram)
        self.gc(ram)
        return [found.bins, found.base, self.gc_state]

    @property
    def top_pointer(self) -> int:
        """Address of the word that points to the top chunk."""
        assert self._bins is not None
        return self._bins - 16

    @property
    def gc_state(self) -> int:
        """Address of mp_state_mem: the GC heap's books, after the rest of the interpreter's
        state."""
        assert self._gc_state is not None
        return self._gc_state

    def interpreter(self, ram: Ram) -> int:
        """Address of mp_state_ctx, whose last part mp_state_mem is: the stack's top, its limit,
        the dicts of locals and of globals: of __main__ in it, or of code that runs in names of its
        own."""
        end = self.gc_state
        words = struct.unpack_from(f"<{_STATE // 8}Q", ram, end - _STATE - RAM_START)
        for i in range(len(words) - 3):
            top, limit, names, more = words[i : i + 4]
            at = end - _STATE + 8 * i
            if not (RAM_START < top < RAM_END and 512 <= limit <= 1 << 20):
                continue
            if at < names == more < end or _same_type(ram, names, more):
                return at
        raise NotFound("the interpreter's state is not in front of its GC heap's books")

    def threads(self, ram: Ram) -> int:
        """Address of the word that points to the list of Python's threads, while there is one: its
        task, 1 for ready, no arguments, its stack, words of that, no next; 0 where a firmware has
        none. Source: mpthreadport.c of MaixPy."""
        heap = self.system(ram)
        chunks = {c.address for c in heap.used}
        words = array("Q", bytes(ram[: heap.base - RAM_START]))
        found = {
            RAM_START + 8 * i
            for i in range(len(words) - 5)
            if words[i] in chunks
            and words[i + 3] in chunks
            and (words[i + 1] & 0xFFFFFFFF, words[i + 2], words[i + 5]) == (1, 0, 0)
            and 0 < words[i + 4] < _STATE * 8
        }
        heads = [i for i, w in enumerate(words) if w in found]
        return RAM_START + 8 * heads[0] if len(found) == len(heads) == 1 else 0

    def system(self, ram: Ram) -> SystemHeap:
        """The system heap."""
        if self._bins is None or self._base is None:
            self._find_bins(ram)
        assert self._bins is not None and self._base is not None
        top = word(ram, self._bins - 16)
        if not RAM_START < top < RAM_END - 16:
            raise NotFound("the system heap has no top chunk")
        found, end = _walk(ram, self._base, top)
        if end != top:
            raise Damaged(
                f"the system heap is damaged: the chunk at {end + 16:#x}, after {len(found)} good "
                f"ones, says {word(ram, end + 8):#x} for its size"
            )
        holes = _holes(found, word(ram, top + 8) & 1)
        chunks = tuple(Chunk(at + HEAD_BYTES, n, at not in holes) for at, n, _ in found)
        return SystemHeap(self._bins, self._base, top, word(ram, top + 8) & ~7, chunks)

    def _find_bins(self, ram: Ram) -> None:
        words = array("Q", bytes(ram[: RAM_END - RAM_START]))
        places = range(RAM_START - 16, RAM_END, 8)
        own = [i for i, (v, at) in enumerate(zip(words, places)) if v == at]
        pairs = {i for i in own if i + 1 < len(words) and words[i + 1] == words[i]}
        tried: set[int] = set()
        for i in sorted(pairs):
            for first in range(i - 2 * (BINS - 1), i + 1, 2):
                if first < 2 or first in tried:
                    continue
                tried.add(first)
                if self._try_bins(ram, words, first, whole=True):
                    return
        for first in sorted(tried):  # then one that is damaged
            if self._try_bins(ram, words, first, whole=False):
                return
        raise NotFound(
            "no allocator of newlib in this RAM. Next: give a RAM taken at a MaixPy prompt"
        )

    def _try_bins(self, ram: Ram, words: array[int], first: int, *, whole: bool) -> bool:
        top = words[first - 2]
        if not RAM_START < top < RAM_END - 16 or top % 16:
            return False
        size = word(ram, top + 8)
        if size & 7 != 1 or (top + (size & ~7)) % PAGE:
            return False
        bins = RAM_START + 8 * first
        if not _rings_lead_back(words, bins):
            return False
        near = words[first + 2 * BINS : first + 4096]  # the base is kept in the data section too
        starts = sorted({v for v in near if RAM_START < v < top and v % 16 == 0})
        if whole:
            free = _in_rings(ram, bins)
            right = [v for v in starts if self._has(ram, v, top, free)]
        else:
            right = _of_damaged(ram, [v for v in starts if v > bins], top)
        if right:
            self._bins, self._base = bins, right[0]
        return bool(right)

    @staticmethod
    def _has(ram: Ram, start: int, top: int, free: set[int]) -> bool:
        """Whether the chunks from here lead to the top one, and these are all that are free: a
        start behind a damaged chunk has fewer."""
        walk, end = _walk(ram, start, top)
        return end == top and _holes(walk, word(ram, top + 8) & 1) == free

    def gc(self, ram: Ram) -> GcHeap:
        """The GC heap."""
        if self._gc_state is None:
            self._gc_state = self._find_gc(ram)
        table, length, _, pool, end = struct.unpack_from("<5Q", ram, self._gc_state - RAM_START)
        if not self._is_gc((table, length, table + length, pool, end)):
            raise NotFound("the GC heap's books changed: the interpreter has not started yet")
        packed = bytes(ram[table - RAM_START : table - RAM_START + length])
        return GcHeap(table, length, pool, states(packed))

    @staticmethod
    def _is_gc(q: tuple[int, ...]) -> bool:
        table, length, finalisers, pool, end = q
        return (
            64 < length < 1 << 20
            and RAM_START < table < RAM_END
            and finalisers == table + length
            and finalisers < pool < end <= RAM_END
            and end - pool == length * 4 * BLOCK
        )

    def _find_gc(self, ram: Ram) -> int:
        words = array("Q", bytes(ram[: RAM_END - RAM_START]))
        found = [
            i
            for i, (table, length, end) in enumerate(zip(words, words[1:], words[2:-3]))
            if 64 < length < 1 << 20
            and table + length == end
            and self._is_gc(tuple(words[i : i + 5]))
        ]
        if len(found) != 1:
            raise NotFound(f"{len(found)} places look like MicroPython's GC heap, not one")
        return RAM_START + 8 * found[0]
