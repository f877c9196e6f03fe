# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Lines that keep more and more, told from caches that fill up, wherever the script ends.

What a line has in use is compared at the same point of each round of a loop; the loop that goes
on longest decides. What no loop can tell is judged by the script's progress in allocations. A
window is from the first bytes of a line to the last moment at which it has at least half of its
most: what a script tidies up at its end is behind it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Callable

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler.ledger import Kept, Look

_BINS = 8  # parts of a window; in each its least counts, so that what comes and goes does not
_RISES = 5  # of them must be above the one before; all, where there are fewer parts
_FEW = 5  # looks at a window, at least
_HELD = 4  # objects that are held at the end of it, at least
_WINDOW = 0.3  # part of the run, in time or in progress
_OFTEN = 1.5  # more rounds for one object that is kept: then not every round keeps one
_FULL = 1024  # bytes of a cache that is worth a word
Of = tuple[str, Place]  #: heap and line


@dataclass(frozen=True)
class Growth:
    """What a line kept from the beginning of its window to the end, in so many `rounds` of a loop
    or, without `by_loop`, objects: a callback, what is kept now and then. Without `leaks` it is
    full, and `nbytes` is what it holds."""

    heap: str
    place: Place
    rounds: int
    nbytes: int
    leaks: bool
    by_loop: bool = False

    @property
    def each(self) -> int:
        """Bytes a round."""
        return self.nbytes // self.rounds


@dataclass(frozen=True)
class _Course:
    """Looks at one loop, or at all, and how far the script had come at each."""

    looks: list[int]
    steps: list[int]
    loop: bool


def growths(looks: list[Look], place_of: Callable[[int], Place]) -> list[Growth]:
    """Leaks and full caches, those with most bytes first. `place_of`: the line of a site; sites
    that are not above 0 are nobody's."""
    series: dict[Of, dict[int, Kept]] = {}
    for i, look in enumerate(looks):
        for heap, kept in (("gc", look.gc), ("heap", look.heap)):
            for (site, nbytes), n in kept.items():
                if site > 0:
                    at = series.setdefault((heap, place_of(site)), {}).setdefault(i, Counter())
                    at[0, nbytes] += n
    courses = _courses(looks)
    found = (_verdict(of, kept, courses, looks) for of, kept in series.items())
    return sorted((g for g in found if g), key=lambda g: (-g.nbytes, str(g.place)))


def _courses(looks: list[Look]) -> list[_Course]:
    """Loops of many rounds first, of these those that go on longest; then all looks."""
    of: defaultdict[int, list[int]] = defaultdict(list)
    for i, look in enumerate(looks):
        if look.loop:
            of[look.loop].append(i)
    loops = [_Course(at, [looks[i].round for i in at], True) for at in of.values()]

    def span(c: _Course) -> int:
        return looks[c.looks[-1]].time - looks[c.looks[0]].time

    longest = max((span(c) for c in loops), default=0) or 1

    def order(c: _Course) -> tuple[bool, int, int]:  # of two that go on equally long the outer one
        return c.steps[-1] < _BINS, -10 * span(c) // longest, c.steps[-1]

    every = _Course([*range(len(looks))], [k.progress for k in looks], False)
    return [*sorted(loops, key=order), every]


def _verdict(
    of: Of, kept: dict[int, Kept], courses: list[_Course], looks: list[Look]
) -> Growth | None:
    for course in courses:
        first, last = _window(kept, course)
        if last - first < _FEW - 1:
            continue
        begin, end = looks[course.looks[first]], looks[course.looks[last]]
        run = (looks[-1].time - looks[0].time) or 1, (looks[-1].progress or 1)
        part = (end.time - begin.time) / run[0], (end.progress - begin.progress) / run[1]
        if max(part if course.loop else part[1:]) >= _WINDOW:
            at = [kept.get(i, Counter()) for i in course.looks[first : last + 1]]
            found = _judge(of, at, course.steps[first : last + 1], course.loop)
            after = [c for c in courses if c.loop and c.looks[0] >= course.looks[last]]
            longer = [c for c in after if c.steps[-1] >= course.steps[last]]
            made_once = found and any(_stays(kept, c) for c in longer)
            return None if made_once else found
    return None


def _stays(kept: dict[int, Kept], course: _Course) -> bool:
    amounts = {_bytes(kept.get(i)) for i in course.looks}
    return len(course.looks) >= _FEW and len(amounts) == 1 and 0 not in amounts


def _window(kept: dict[int, Kept], course: _Course) -> tuple[int, int]:
    """First and last of the course's looks that are in the window."""
    amounts = [_bytes(kept.get(i)) for i in course.looks]
    most = max(amounts)
    if not most:
        return 0, 0
    first = next(i for i, n in enumerate(amounts) if n)
    return first, max(i for i, n in enumerate(amounts) if 2 * n >= most)


def _bytes(kept: Kept | None) -> int:
    return sum(nbytes * n for (_, nbytes), n in kept.items()) if kept else 0


def _objects(kept: Kept) -> int:
    """How many objects about as large as those that have most of the bytes: what belongs to each,
    and the list that holds them, is of another size."""
    sizes: Counter[int] = Counter()
    for (_, nbytes), n in kept.items():
        sizes[nbytes] += n
    most = max(sizes, key=lambda nbytes: nbytes * sizes[nbytes], default=0)
    return sum(n for nbytes, n in sizes.items() if most <= 2 * nbytes <= 4 * most)


def _judge(of: Of, kept: list[Kept], steps: list[int], loop: bool) -> Growth | None:
    amounts = [_bytes(k) for k in kept]
    bins = _least(amounts, steps)
    held, new = _objects(kept[-1]), _objects(kept[-1]) - _objects(kept[0])
    if len(bins) < _FEW or held < _HELD:
        return None
    rises = sum(a < b for a, b in zip(bins, bins[1:]))
    mean = (bins[-1] - bins[0]) / (len(bins) - 1)
    wanted = min(_RISES, held - 2) if len(bins) == _BINS else len(bins) - 1
    if new > 0 and bins[-1] - bins[-3] >= mean > 0 and rises >= wanted:
        rounds = steps[-1] - steps[0]
        by_loop = loop and rounds <= _OFTEN * new
        kept_in = rounds if by_loop else new
        return Growth(*of, kept_in, amounts[-1] - amounts[0], True, by_loop)
    full = bins[-1] == bins[-2] >= _FULL and amounts[0] < bins[-1]
    return Growth(*of, held, bins[-1], leaks=False) if full else None


def _least(amounts: list[int], steps: list[int]) -> list[int]:
    """The least of each part of the window; parts without a look are left out."""
    span, parts = (steps[-1] - steps[0]) or 1, min(_BINS, len(steps))
    bins: dict[int, int] = {}
    for at, n in zip(steps, amounts):
        i = min((at - steps[0]) * parts // span, parts - 1)
        bins[i] = min(bins.get(i, n), n)
    return [bins[i] for i in sorted(bins)]
