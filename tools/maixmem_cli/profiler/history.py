# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Who had what over the time of a run, by line: what is in use, and the garbage beside it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler import ledger

if TYPE_CHECKING:
    from maixmem_cli.profiler.profile import Profile


@dataclass(frozen=True)
class Point:
    """A moment. `gc`, `heap`: bytes in use of each line; `garbage`: of the GC heap, of nobody."""

    time: int
    gc: Counter[Place]
    garbage: int
    heap: Counter[Place]


def points(profile: Profile) -> list[Point]:
    """In order of time, the moments of both peaks among them."""
    books, place = profile.books, profile.place
    rows = [
        (s.time, Counter(gc), Counter(heap)) for s, (gc, heap) in zip(books.samples, books.held)
    ]
    times = [row[0] for row in rows]
    for peak, of_gc in ((books.gc.peak, True), (books.heap.peak, False)):
        i = bisect_right(times, peak.time) - 1
        if peak.time and i >= 0:
            _, gc, heap = rows[i]
            rows.append((peak.time, peak.held if of_gc else gc, heap if of_gc else peak.held))
    looked = [k.time for k in books.looks]
    out = []
    for time, gc, heap in sorted(rows, key=lambda r: r[0]):
        held = ledger.by_line(gc, place)
        i = bisect_right(looked, time) - 1
        used = _in_use(profile, books.looks[i], held) if i >= 0 else held
        garbage = sum(held.values()) - sum(used.values())
        out.append(Point(time, used, garbage, ledger.by_line(heap, place)))
    return out


def _in_use(profile: Profile, look: ledger.Look, held: Counter[Place]) -> Counter[Place]:
    """Of what each line holds, what the last look found in use."""
    used: Counter[Place] = Counter()
    for (site, nbytes), n in look.gc.items():
        used[profile.place(site)] += nbytes * n
    return Counter({p: min(n, used[p]) for p, n in held.items() if used[p]})
