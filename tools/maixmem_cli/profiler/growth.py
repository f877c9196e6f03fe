# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The judge of growth: what an owner keeps, looked at once in each round of a loop, always at the
same point. It tells what goes on growing from what was made once, what fills up, and what comes
and goes. A function of numbers only: a run on a firmware, on the stand-in, or a plan may ask it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from statistics import median

ENOUGH = 30  #: rounds that tell any leak of every round
LEAST = 15  #: with fewer nothing is said to grow
GROWS, FULL, FLAT, FEW = "grows", "full", "flat", "too few rounds"

_STEPS = 4  # up, at least; of a table one less
_GOES_ON = 0.65  # of what the first half of the rounds added, the second half adds at least
_PAUSE = 2  # times the longest pause between two steps: a longer one is the end. Tables double
_TEETH = 4  # what is given back at once counts when it is that part of the growth
_MANY = 3  # objects of one size: then they are kept one by one, else one object is made anew
_FEW_ONES = 5  # more are kept one by one, each of another size
_TABLE = 1.2  # times as large as before: the table of a dict or a list
_TABLE_STEPS = 3  # the last ones, and no one smaller than the one before

Held = Mapping[int, int]  #: {bytes of an object: how many of them}, at one look


@dataclass(frozen=True)
class Verdict:
    """`rate`: bytes a round, and `one`: those of them by objects that are made anew, larger, each
    time (a string, a table) and need room for two; `largest`: the largest of these now. `since`:
    the round in which it began; `nbytes`: held at the last look; `rounds`: that were looked at."""

    kind: str
    rounds: int
    nbytes: int
    since: int = 0
    rate: float = 0.0
    one: float = 0.0
    largest: int = 0


def judge(rounds: Sequence[int], held: Sequence[Held]) -> Verdict:
    """What one owner held at the end of each of these rounds (rising numbers, some may be left
    out)."""
    amounts = [_bytes(h) for h in held]
    if not rounds:
        return Verdict(FLAT, 0, 0)
    floor = lowest(amounts)
    first = sum(1 for n in floor if n == floor[0]) - 1
    passed, rise = rounds[-1] - rounds[0] + 1, floor[-1] - floor[0]
    if rise <= 0:
        return Verdict(FLAT, passed, amounts[-1])
    if passed < LEAST:
        return Verdict(FEW, passed, amounts[-1])
    stay = Verdict(FULL, passed, amounts[-1], rounds[first])
    at, low = rounds[first:], floor[first:]
    if not _goes_on(at, low) or not _is_more_than_teeth(rounds, amounts, floor):
        return stay
    many, ones = parts(held)
    one = rate(at, ones[first:])
    both = rate(at, many[first:]) + one
    if both <= 0:
        return stay
    largest = max((size for size, n in held[-1].items() if n < _MANY), default=0)
    return Verdict(GROWS, passed, amounts[-1], rounds[first], both, one, largest if one else 0)


def lowest(amounts: Sequence[int]) -> list[int]:
    """Of each look: what is never given back after it."""
    return [*accumulate(reversed(amounts), min)][::-1]


def _steps(low: Sequence[int]) -> list[int]:
    """The looks at which more is kept than before."""
    return [i for i in range(1, len(low)) if low[i] > low[i - 1]]


def _goes_on(rounds: Sequence[int], low: Sequence[int]) -> bool:
    """Whether it still grows at the end, about as fast as before."""
    steps, table = _steps(low), is_table(low)
    enough = len(steps) >= _STEPS or (table and len(steps) == _STEPS - 1)
    if not enough or rounds[-1] - rounds[0] < LEAST - 1:
        return False
    ups = [rounds[i] for i in (0, *steps)]
    longest = max(b - a for a, b in zip(ups, ups[1:]))
    if rounds[-1] - ups[-1] > _PAUSE * longest:
        return False
    half = (rounds[0] + rounds[-1]) / 2
    middle = max(n for at, n in zip(rounds, low) if at <= half)
    return table or low[-1] - middle >= _GOES_ON * (middle - low[0])


def is_table(low: Sequence[int]) -> bool:
    """Whether each step is by a part of what was there, as tables of lists and dicts grow."""
    steps = [(low[i - 1], low[i]) for i in _steps(low)[-_TABLE_STEPS:]]
    ups = [b - a for a, b in steps]
    larger = len(ups) == _TABLE_STEPS and ups == sorted(ups) and ups[0] < ups[-1]
    return larger and all(b >= _TABLE * a for a, b in steps)


def _is_more_than_teeth(
    rounds: Sequence[int], amounts: Sequence[int], floor: Sequence[int]
) -> bool:
    """A queue that is emptied now and then grows only since it was emptied; what leaks had more
    each time."""
    rise = floor[-1] - floor[0]
    drops = [i for i in range(1, len(amounts)) if _TEETH * (amounts[i - 1] - amounts[i]) >= rise]
    if not drops:
        return True
    last = drops[-1]
    before, after = rounds[last] - rounds[0], rounds[-1] - rounds[last]
    return 2 * (floor[last] - floor[0]) * after >= (floor[-1] - floor[last]) * before > 0


def parts(held: Sequence[Held]) -> tuple[list[int], list[int]]:
    """Bytes of objects that are kept one by one, and of the one that is made anew, larger."""
    most: Counter[int] = Counter()
    for h in held:
        for size, n in h.items():
            most[size] = max(most[size], n)
    singles = [{s: n for s, n in h.items() if most[s] < _MANY} for h in held]
    if max(sum(s.values()) for s in singles) > _FEW_ONES:  # each of another size
        return [_bytes(h) for h in held], [0] * len(held)
    # of a few the largest: the collector may have taken old copies for objects in use
    many = [sum(s * n for s, n in h.items() if most[s] >= _MANY) for h in held]
    return many, [max(s, default=0) for s in singles]


def _bytes(held: Held) -> int:
    return sum(size * n for size, n in held.items())


def rate(rounds: Sequence[int], amounts: Sequence[int]) -> float:
    """Bytes a round: the middle of the slopes between any two looks. A table that grows by a part
    of itself has room in vain: of that, where it is full, just before each step up."""
    low = lowest(amounts)
    points: list[tuple[float, int]] = [*zip(rounds, low)]
    if is_table(low):
        full = [i for i in _steps(low) if low[i - 1]]
        points = [((rounds[i - 1] + rounds[i] - 1) / 2, low[i - 1]) for i in full]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2)]
    return median(slopes) if slopes else 0.0


def rounds_left(growing: Sequence[Verdict], room: int) -> int | None:
    """After how many more rounds all of them together have taken `room` bytes; None: never. What
    is made anew needs its old and its new copy at once."""
    together = sum(v.rate for v in growing)
    ends = [room / together] if together > 0 else []
    ends += [(room - v.largest) / (together + v.one) for v in growing if v.one > 0]
    return max(0, int(min(ends))) if ends else None
