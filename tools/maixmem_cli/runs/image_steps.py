# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a script did to a board in software, step by step, from the events that were traced.

A step begins where the firmware's function is called and ends with the next event of another
line. What was loaded follows from the allocations: those of each file that lies on the board are
known to the byte from its header.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from k210_model.camera import camera_blocks
from k210_model.frame_sizes import SIZES

from maixmem_cli.emulator.readers import tracer
from maixmem_cli.emulator.readers.tracer import Event
from maixmem_cli.heap import heaps
from maixmem_cli.heap.heaps import BLOCK
from maixmem_cli.profiler import ledger
from maixmem_cli.profiler.profile import Profile
from maixmem_cli.record import record
from maixmem_cli.record.record import Level, Model, Place, Step
from maixmem_cli.runs.loads import Candidate, nearest

_KINDS = {
    "load": record.LOAD,
    "camera": record.CAMERA,
    "window": record.WINDOW,
    "lcd": record.LCD,
}
_AGAIN = 4  # times that the same step is kept, of the same lines and model
_MOST = 400  # steps
_FRAME = re.compile(r"set_framesize\(\s*\w+\.(\w+)\s*\)")
_SIZE = re.compile(r"set_windowing\(\s*\(\s*(?:\d+\s*,\s*\d+\s*,\s*)?(\d+)\s*,\s*(\d+)\s*\)")


@dataclass
class _Open:
    """A step under way."""

    kind: str
    site: int
    time: int
    asked: list[int] = field(default_factory=list)
    taken: dict[int, tuple[int, int]] = field(default_factory=dict)  # address: asked, size
    refused: bool = False


class Walker:
    """Reads all events of a profile: its steps, and how large each site's largest allocation
    was."""

    def __init__(self, profile: Profile, known: list[Candidate]) -> None:
        self.profile = profile
        self.largest: Counter[tuple[str, int]] = Counter()
        self.steps: list[Step] = []
        self.left_out = 0
        self.raised: Level | None = None  #: the GC heap when an exception ended the script
        self._known = known
        self._books = ledger.Ledger(*profile.session.tracer.began)
        self.times: list[int] = []  #: of its pictures
        self._loaded: dict[int, tuple[int, Model]] = {}  # a block: number of its load, model
        self._loads = 0
        self._same: Counter[tuple[str, tuple[Place, ...], Model | None]] = Counter()
        self.most = self._books.end  #: where the arena ended at the most
        self._open: _Open | None = None

    def walk(self) -> None:
        """All of it, once."""
        for e in self.profile.events:
            if self._open and self._ends(e):
                self._close()
            if e.kind == tracer.LOOK:
                continue
            self._books.feed_one(e)
            if e.kind == tracer.MARK and e.a:
                self._mark(e)
            elif e.kind in (tracer.MALLOC, tracer.REALLOC, tracer.FREE):
                self._heap(e)
            elif e.kind == tracer.RAISED:
                self.raised = _gc_level(self._books.blocks)
            elif e.kind == tracer.GC_NEW:
                size = e.asked * BLOCK // max(1, e.end)
                self.largest["gc", e.site] = max(self.largest["gc", e.site], size)
        if self._open:
            self._close(last=True)

    def pictures_at(self, time: int) -> int:
        """Pictures that were taken before."""
        return bisect_right(self.times, time)

    def _ends(self, e: Event) -> bool:
        assert self._open
        if e.kind == tracer.MARK:
            return True
        asks = e.kind in (tracer.MALLOC, tracer.REALLOC, tracer.GC_NEW)
        return asks and e.site != self._open.site

    def _mark(self, e: Event) -> None:
        kind = self.profile.mark(e.a)
        if kind == "snapshot":
            self.times.append(e.time)
        elif kind in _KINDS:
            self._open = _Open(_KINDS[kind], e.site, e.time)

    def _heap(self, e: Event) -> None:
        self.most = max(self.most, e.end)
        if e.kind == tracer.FREE:
            self._freed(e)
            return
        self.largest["heap", e.site] = max(self.largest["heap", e.site], e.size)
        if self._open and e.asked:
            self._open.asked.append(e.asked)
            self._open.refused |= not e.a
            if e.a:
                self._open.taken[e.a] = e.asked, e.size

    def _freed(self, e: Event) -> None:
        """A block of a step that is under way, or the first of a model that goes."""
        if self._open and self._open.taken.pop(e.a, None):
            return
        number, model = self._loaded.get(e.a, (0, None))
        if model is None:
            return
        self._loaded = {a: load for a, load in self._loaded.items() if load[0] != number}
        at = tuple(self.places(e.site))
        self._keep(Step(record.FREE, at, self.pictures_at(e.time), model=model, **self._levels()))

    def _close(self, *, last: bool = False) -> None:
        step, self._open = self._open, None
        assert step
        made = self._made(step, last=last)
        if made is not None:
            self._keep(made)

    def _keep(self, step: Step) -> None:
        same = step.kind, step.at, step.model
        self._same[same] += 1
        again = self._same[same] > _AGAIN and not step.failed
        if again or len(self.steps) >= _MOST:
            self.left_out += 1
        else:
            self.steps.append(step)

    def _made(self, step: _Open, *, last: bool) -> Step | None:
        at = tuple(self.places(step.site))
        taken = sum(size for _, size in step.taken.values())
        hangs = last and self.profile.outcome.kind in record.HANGING
        more: dict[str, Any] = {"failed": hangs or step.refused, "nbytes": taken or None}
        if step.kind == record.LOAD:
            more["model"] = self._load(step, at)
            more["failed"] |= more["model"] is None or not taken
        elif step.kind == record.CAMERA:
            more.update(_camera([n for n, _ in step.taken.values()]))
            if more["failed"] and not more.get("frame"):
                more.update(_named_frame(at))
            if not more.get("frame"):
                return None  # sensor.reset(), or a size that it has already
        elif step.kind == record.WINDOW:
            more["size"] = _window(at)
        return Step(step.kind, at, self.pictures_at(step.time), **more, **self._levels())

    def _load(self, step: _Open, at: tuple[Place, ...]) -> Model | None:
        fitting = [(c.fits(step.asked), self._named_there(c, at), c) for c in self._known]
        fits, _, best = max(fitting, key=lambda f: f[:2], default=(0, 0, None))
        if best is None or not fits:
            return None
        keeps = sum(size for _, size in step.taken.values()) or None
        model = Model(**{**vars(best.model), "keeps": keeps})
        self._loads += 1
        self._loaded.update(dict.fromkeys(step.taken, (self._loads, model)))
        return model

    def _named_there(self, c: Candidate, at: tuple[Place, ...]) -> int:
        """Of files that are alike: 2 for the one that the line names, 1 for one that is not
        loaded."""
        model = c.model
        word = model.path.rsplit("/", 1)[-1] if model.address is None else f"{model.address:x}"
        if at and word.lower() in at[0].text.lower():
            return 2
        live = {(m.address, m.path) for _, m in self._loaded.values()}
        return int((model.address, model.path) not in live)

    def _levels(self) -> dict[str, Any]:
        gc = Level(self.profile.gc_total, self.profile.gc_total - self._books.gc.used)
        return {"gc": gc, "heap": self.heap_now()}

    def heap_now(self) -> Level:
        """The system heap after the last event that was read."""
        return heap_level(self._books.chunks, self._books.base, self._books.end, self.most)

    def refused_before(self, at: tuple[Place, ...], wanted: int) -> None:
        """The library found so many bytes missing for a load, which did not begin."""
        best = nearest(self._known, wanted, lambda c: self._named_there(c, at))
        if best:
            more = self._levels()
            self._keep(Step(record.LOAD, at, len(self.times), True, model=best.model, **more))

    def most_at(self, place: Place) -> int | None:
        """The largest allocation of the GC heap that a line got; None: it got none."""
        got = [
            nbytes
            for (heap, site), nbytes in self.largest.items()
            if heap == record.GC and [*map(str, self.places(site)[:1])] == [str(place)]
        ]
        return max(got, default=None)

    def reached(self, file: str) -> set[int]:
        """The lines of a file that took something of a heap, or called what did."""
        return {p.line for _, site in self.largest for p in self.places(site) if p.file == file}

    def places(self, site: int) -> list[Place]:
        """The lines of a site, the innermost first."""
        return [self.named(p) for p in self.profile.stack(site)]

    def named(self, p: tracer.Place) -> Place:
        """A line as a record has it."""
        return Place(p.file, p.line, p.function, self.profile.text(p))


def _gc_level(blocks: list[int | None]) -> Level:
    """The GC heap with these blocks; None: it is free."""
    runs = [sum(1 for _ in group) for free, group in groupby(b is None for b in blocks) if free]
    free, largest = sum(runs) * BLOCK, max(runs, default=0) * BLOCK
    return Level(len(blocks) * BLOCK, free, largest)


def heap_level(chunks: dict[int, tuple[int, int, int]], base: int, end: int, most: int) -> Level:
    """The system heap with these chunks, {address: (bytes, ...)}, in an arena that ends at `end`,
    and at the most ended at `most`. malloc takes a piece from a hole, from the top of its arena,
    or whole from behind it: the last two are never one piece."""
    at, largest, used = base, 0, 0
    for address in sorted(chunks):
        largest = max(largest, address - 16 - at)
        at = address - 16 + chunks[address][0]
        used += chunks[address][0]
    largest = max(largest, end - at, heaps.RAM_END - end)
    total = heaps.RAM_END - base
    return Level(total, total - used, max(0, largest - 8), heap_free=heaps.RAM_END - most)


def _camera(taken: list[int]) -> dict[str, Any]:
    """The frame size whose buffers these are."""
    for name, size in SIZES.items():
        for dual in (False, True):
            if taken and sorted(taken) == sorted(camera_blocks(*size, dual)):
                return {"frame": name, "size": size, "dual_buff": dual}
    return {}


def _named_frame(at: tuple[Place, ...]) -> dict[str, Any]:
    """The frame size that the line names, where its buffers were not given."""
    found = _FRAME.search(at[0].text) if at else None
    return {"frame": found[1], "size": SIZES[found[1]]} if found and found[1] in SIZES else {}


def _window(at: tuple[Place, ...]) -> tuple[int, int] | None:
    """The size that the line has as numbers; None where it is not written there."""
    found = _SIZE.search(at[0].text) if at else None
    return (int(found[1]), int(found[2])) if found else None
