# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The books of both heaps while a script runs: who holds what, at the peak and at the end, and
what grows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from typing import Callable

from maixmem_cli.emulator.readers import tracer
from maixmem_cli.emulator.readers.tracer import NOWHERE, Event, Place
from maixmem_cli.heap import heaps
from maixmem_cli.heap.heaps import BLOCK, FREE, HEAD, GcHeap, SystemHeap

BEFORE = -1  #: the site of what was there before the script
_SAMPLES = 400
_RUN = re.compile(b"\x00+|\x01\x02*|.", re.DOTALL)  # free blocks, or an object: HEAD, then TAIL
_LARGER = re.compile(b"\x01\x02+")  # than a block
_SLACK = re.compile(b"(.)([\x80-\xff]*)([\x00-\x7f])", re.DOTALL)  # of one of those
_WORD = 8
Kept = Counter[tuple[int, int]]  #: how many of {(site, bytes)}
Filled = dict[tuple[int, int], int]  #: of one of {(site, bytes)}: bytes to the last that is not 0


@dataclass
class Peak:
    """The most bytes that a heap had in use, and who had them: {site: bytes}."""

    used: int = 0
    time: int = 0
    site: int = BEFORE
    held: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True)
class Sample:
    """A point of the timeline. `gc`, `heap`: the most in use since the point before; `largest`:
    the largest block that the system heap could give; `holes`: their bytes."""

    time: int
    gc: int
    heap: int
    largest: int
    holes: int


@dataclass(frozen=True)
class Look:
    """What is in use at one time: of the GC heap without garbage. `progress`: objects and chunks
    that were allocated before it. `loop`: which one begins its next `round` here, a number;
    0: none does. Of the GC heap's objects of more than one block `filled`, and `entries`: bytes of
    their words that are not 0, as of a table those of its entries; all that are alike together."""

    time: int
    progress: int
    gc: Kept
    heap: Kept
    loop: int = 0
    round: int = 0
    site: int = 0  #: of what runs
    filled: Filled = field(default_factory=dict)
    entries: Kept = field(default_factory=Counter)

    @property
    def gc_used(self) -> int:
        return sum(nbytes * n for (_, nbytes), n in self.gc.items())


@dataclass(frozen=True)
class Fullest:
    """A snapshot of the GC heap, such as that at which most was in use: where it was, `used` as
    LOOK has it, when, and the site of each block."""

    blocks: int = 0
    site: int = BEFORE
    used: bytes = b""
    time: int = 0
    owners: tuple[int | None, ...] = ()


# Follows one heap. held: {site: bytes}; count: {site: allocations}; in_all: {site: bytes ever}.
class Account:
    def __init__(self, used: int) -> None:
        self.used = used
        self.held: Counter[int] = Counter({BEFORE: used})
        self.count: Counter[int] = Counter()
        self.in_all: Counter[int] = Counter()
        self.peak = Peak(used, held=Counter({BEFORE: used}))
        self.most = used  # since the last sample
        self.made = 0  # allocations
        self._at_peak = False

    def take(self, time: int, site: int, nbytes: int, new: int = 1) -> None:
        self.used += nbytes
        self.held[site] += nbytes
        self.in_all[site] += nbytes
        self.count[site] += new
        self.made += new
        self.most = max(self.most, self.used)
        if self.used > self.peak.used:
            self.peak.used, self.peak.time, self.peak.site = self.used, time, site
            self._at_peak = True

    def settle(self) -> None:
        """Keeps who had what at the peak, before something changes after it."""
        if self._at_peak:
            self.peak.held = Counter({s: n for s, n in self.held.items() if n})
            self._at_peak = False

    def pass_on(self, site: int, to: int, nbytes: int) -> None:
        """One object of a site is another's."""
        self.settle()
        for amounts, n in ((self.held, nbytes), (self.in_all, nbytes), (self.count, 1)):
            amounts[site] -= n
            amounts[to] += n

    def give(self, site: int, nbytes: int) -> None:
        self.settle()
        self.used -= nbytes
        self.held[site] -= nbytes


class Ledger:
    """Feed it the heaps as they were, then every event in order."""

    def __init__(self, system: SystemHeap, gc: GcHeap) -> None:
        #: address -> (bytes of the chunk, site, time)
        self.chunks = {c.address: (c.size, BEFORE, 0) for c in system.used}
        #: of each block of the GC heap: its site, or None when it is free
        self.blocks: list[int | None] = [None if s == FREE else BEFORE for s in gc.states]
        self.heap = Account(sum(c.size for c in system.used))
        self.gc = Account(gc.used)
        self.base = system.base
        self.end = system.end
        self._limit = system.end + system.heap_free
        self.samples: list[Sample] = []
        self.looks: list[Look] = []
        self.fullest = Fullest()
        #: at each sample, {site: bytes} of the GC heap and of the system heap
        self.held: list[tuple[dict[int, int], dict[int, int]]] = []
        self.marks: list[tuple[int, int, int]] = []  #: (time, number of the mark, site)
        self.peak_chunks: dict[int, tuple[int, int, int]] = dict(self.chunks)
        self.first_time = self.last_time = 0
        #: (site, site): the second made an object of the first larger
        self.taken_over: set[tuple[int, int]] = set()
        self._new: Event | None = None  # the last event before what was freed, if it is GC_NEW
        self._freed_since: list[tuple[int, int]] = []  # (site, blocks) of the first two objects
        self.refused: list[Event] = []  #: allocations of the system heap that got nothing

    def feed(self, events: list[Event]) -> None:
        """All events of a run."""
        if not events:
            return
        self.first_time = events[0].time
        # an idle board counts instructions too: the mark that ends a trace comes when somebody
        # asks
        script = (e.time for e in reversed(events) if e.kind != tracer.MARK or e.a)
        self.last_time = next(script, self.first_time)
        step = max(1, (self.last_time - self.first_time) // _SAMPLES)
        due = self.first_time
        for e in events:
            if e.time >= due:
                self._sample(e.time)
                due = e.time + step
            self.feed_one(e)
        self._sample(self.last_time)
        self.heap.settle()
        self.gc.settle()

    def feed_one(self, e: Event) -> None:
        """The next event."""
        self._moved(e)
        if e.kind in (tracer.GC_NEW, tracer.GC_GROW):
            self._blocks_taken(e)
        elif e.kind == tracer.GC_FREE:
            self._blocks_freed(e.a, e.asked)
        elif e.kind == tracer.CELL:
            self._is_of(e.a, e.site)
        elif e.kind in (tracer.MALLOC, tracer.REALLOC):
            self._allocated(e)
        elif e.kind == tracer.FREE:
            self._freed(e.a)
            self.end = e.end or self.end
        elif e.kind == tracer.MARK and e.a:  # 0: where the board is now
            self.marks.append((e.time, e.a, e.site))
        elif e.kind == tracer.LOOK:
            self._look(e)

    def _allocated(self, e: Event) -> None:
        if not e.a:
            if e.asked:
                self.refused.append(e)
            return
        if e.old:
            self._freed(e.old)
        self.chunks[e.a] = (e.size, e.site, e.time)
        self.end = e.end or self.end
        before = self.heap.peak.used
        self.heap.take(e.time, e.site, e.size)
        if self.heap.peak.used > before:
            self.peak_chunks = self.chunks.copy()

    def _freed(self, address: int) -> None:
        chunk = self.chunks.pop(address, None)
        if chunk:
            self.heap.give(chunk[1], chunk[0])

    def _blocks_taken(self, e: Event) -> None:
        first, n = e.a, min(e.asked, len(self.blocks) - e.a)
        if e.kind == tracer.GC_GROW:
            self._takes_over(self.blocks[first - 1], e)
        self.blocks[first : first + n] = [e.site] * n
        self.gc.take(e.time, e.site, n * BLOCK, e.end if e.kind == tracer.GC_NEW else 0)

    def _is_of(self, block: int, site: int) -> None:
        """A cell is of the site that first allocates in the function, not of the call."""
        before = self.blocks[block]
        if before is not None and before != BEFORE:
            self.blocks[block] = site
            self.gc.pass_on(before, site, BLOCK)

    def _moved(self, e: Event) -> None:
        """One object alone that is freed after a larger one was allocated was moved there; a
        collector frees more."""
        if e.kind == tracer.GC_FREE:
            if self._new and len(self._freed_since) < 2:
                self._freed_since.append((self.blocks[e.a] or NOWHERE, e.asked))
            return
        if self._new and len(self._freed_since) == 1:
            [(site, blocks)] = self._freed_since
            if blocks < self._new.asked:
                self._takes_over(site, self._new)
        self._new = e if e.kind == tracer.GC_NEW else None
        self._freed_since.clear()

    def _takes_over(self, before: int | None, e: Event) -> None:
        if before and before != e.site:
            self.taken_over.add((before, e.site))

    def _blocks_freed(self, first: int, n: int) -> None:
        owners = self.blocks[first : first + n]
        self.blocks[first : first + n] = [None] * len(owners)
        for owner in set(owners):
            if owner is not None:
                self.gc.give(owner, owners.count(owner) * BLOCK)

    def _sample(self, time: int) -> None:
        holes, at = [], self.base
        for address in sorted(self.chunks):
            if address - 16 > at:
                holes.append(address - 16 - at)
            at = address - 16 + self.chunks[address][0]
        largest = max([self._limit - at, *holes], default=0)
        self.samples.append(Sample(time, self.gc.most, self.heap.most, largest, sum(holes)))
        gc, heap = ({s: n for s, n in a.held.items() if n} for a in (self.gc, self.heap))
        self.held.append((gc, heap))
        for account in (self.gc, self.heap):
            account.most = account.used

    def _look(self, e: Event) -> None:
        states = heaps.states(e.used)[: len(self.blocks)]
        runs = _RUN.findall(states)
        owners = [None, *self.blocks]  # of the block before: who made an object as large as it is
        ends = accumulate(map(len, runs))
        blocks: Kept = Counter()
        for (site, run), n in Counter(zip(map(owners.__getitem__, ends), runs)).items():
            if run[0] == HEAD:
                blocks[BEFORE if site is None else site, len(run) * BLOCK] += n
        filled: Filled = {}
        entries: Kept = Counter()
        for m, (slack, more, last) in zip(_LARGER.finditer(states), _SLACK.findall(e.slack)):
            site, size = owners[m.end()], (m.end() - m.start()) * BLOCK
            of = BEFORE if site is None else site, size
            filled[of] = max(filled.get(of, 0), size - slack[0])
            entries[of] += size - (slack[0] // _WORD + _number(more, last)) * _WORD
        chunks = Counter((site, size) for size, site, _ in self.chunks.values())
        if e.a > self.fullest.blocks:
            self.fullest = Fullest(e.a, e.site, e.used, e.time, tuple(self.blocks))
        made = self.gc.made + self.heap.made
        at = e.asked, e.end, e.site
        self.looks.append(Look(e.time, made, blocks, chunks, *at, filled, entries))

    def still_there(self, states: bytes) -> None:
        """After a collection that was not traced: removes what it freed from the GC heap's
        books."""
        for free, run in groupby(range(len(states)), lambda i: states[i] == FREE):
            blocks = [*run]
            if free:
                self._blocks_freed(blocks[0], len(blocks))

    def unexplained(self, system: SystemHeap) -> int:
        """Bytes of chunks that the books have otherwise than the heap itself: 0 when they
        agree."""
        real = {c.address: c.size for c in system.used}
        ours = {a: c[0] for a, c in self.chunks.items()}
        return sum(abs(real.get(a, 0) - ours.get(a, 0)) for a in real.keys() | ours.keys())


def _number(more: bytes, last: bytes) -> int:
    """Of seven bits in a byte, the lowest first."""
    return sum((byte & 0x7F) << 7 * i for i, byte in enumerate(more + last))


def at_look(system: SystemHeap, gc: GcHeap, events: Iterable[Event], time: int) -> Fullest:
    """The GC heap at the snapshot of that time. `system`, `gc`: before the first event."""
    books = Ledger(system, gc)
    for e in events:
        if e.time > time:
            break
        if e.kind != tracer.LOOK or e.time == time:
            books.feed_one(e)
    return books.fullest


def by_line(amounts: Counter[int], place_of: Callable[[int], Place]) -> Counter[Place]:
    """Bytes (or a number) by line, of {site: bytes}."""
    out: Counter[Place] = Counter()
    for site, nbytes in amounts.items():
        if nbytes:
            out[place_of(site)] += nbytes
    return out
