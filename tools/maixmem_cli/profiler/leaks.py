# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Lines that keep more and more, told from caches that fill up, wherever the script ends.

Judged from what was in use at many moments, by the script's own progress (its allocations), not by
time, so that waiting does not count. A window is from the first bytes of a line to the last moment
at which it has at least half of its most: what a script tidies up at its end is behind it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Callable

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler.ledger import Kept, Look

_BINS = 8  # parts of a window; in each its least counts, so that what comes and goes does not
_RISES = 5  # of them must be above the one before
_ROUNDS = 4  # objects that are held at the end of it, at least
_WINDOW = 0.3  # part of the run's progress
_FULL = 1024  # bytes of a cache that is worth a word
Of = tuple[str, Place]  #: heap and line


@dataclass(frozen=True)
class Growth:
    """What a line kept from the beginning of its window to the end: `rounds` objects, `nbytes`
    with all that belongs to them. Without `leaks` it is full, and that is what it holds."""

    heap: str
    place: Place
    rounds: int
    nbytes: int
    leaks: bool

    @property
    def each(self) -> int:
        """Bytes a round."""
        return self.nbytes // self.rounds


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
    found = (_judge(of, kept, [k.progress for k in looks]) for of, kept in series.items())
    return sorted((g for g in found if g), key=lambda g: (-g.nbytes, str(g.place)))


def _bytes(kept: Kept | None) -> int:
    return sum(nbytes * n for (_, nbytes), n in kept.items()) if kept else 0


def _rounds(kept: Kept) -> int:
    """How many objects about as large as those that have most of the bytes: what belongs to each,
    and the list that holds them, is of another size."""
    sizes: Counter[int] = Counter()
    for (_, nbytes), n in kept.items():
        sizes[nbytes] += n
    most = max(sizes, key=lambda nbytes: nbytes * sizes[nbytes], default=0)
    return sum(n for nbytes, n in sizes.items() if most <= 2 * nbytes <= 4 * most)


def _judge(of: Of, kept: dict[int, Kept], progress: list[int]) -> Growth | None:
    amounts = [_bytes(kept.get(i)) for i in range(len(progress))]
    first, most = min(kept), max(amounts)
    last = max(i for i, n in enumerate(amounts) if 2 * n >= most)
    span, run = progress[last] - progress[first], progress[-1] - progress[0]
    if span < _WINDOW * run or not span:
        return None
    bins = _least(amounts[first : last + 1], progress[first : last + 1])
    held = _rounds(kept[last])
    if len(bins) < _BINS or held < _ROUNDS:
        return None
    rises = sum(a < b for a, b in zip(bins, bins[1:]))
    mean = (bins[-1] - bins[0]) / (_BINS - 1)
    rounds = held - _rounds(kept[first])
    if rounds > 0 and bins[-1] - bins[-3] >= mean > 0 and rises >= min(_RISES, held - 2):
        return Growth(*of, rounds, amounts[last] - amounts[first], leaks=True)
    full = bins[-1] == bins[-2] >= _FULL
    return Growth(*of, held, bins[-1], leaks=False) if full else None


def _least(amounts: list[int], progress: list[int]) -> list[int]:
    """The least of each part of the window; parts without a look are left out."""
    span = progress[-1] - progress[0]
    bins: dict[int, int] = {}
    for at, n in zip(progress, amounts):
        i = min((at - progress[0]) * _BINS // span, _BINS - 1)
        bins[i] = min(bins.get(i, n), n)
    return [bins[i] for i in sorted(bins)]
