# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which loops of a run are judged: the outer ones, in the order in which they ran.

A loop is known by the address at which its bytecode jumps back. One is inside another when it runs
while the other does, called from the other's function, or above it in that function's bytecode.
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Callable

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler.growth import LEAST
from maixmem_cli.profiler.ledger import Look

Chain = tuple[Place, ...]  #: the outermost line first
MAIN = "<module>"  #: the function of a script's own lines
_OURS = "maixmem"  # begins the names of the library's modules


@dataclass(frozen=True)
class Sites:
    """What is known of a site: its lines, and how deep it is, comprehensions counted: they have no
    line of their own."""

    chain: Callable[[int], Chain]
    depth: Callable[[int], int]


@dataclass(frozen=True)
class Loop:
    """`at`: the numbers of its looks; `rounds`: of each; `chain`, `depth`: of its first; it began
    before the time `first`, and went on at `last`. `outer`: the loop of few rounds in one of which
    it is judged."""

    key: int
    at: tuple[int, ...]
    rounds: tuple[int, ...]
    chain: Chain
    depth: int
    first: int
    last: int
    outer: Loop | None = None

    @property
    def passed(self) -> int:
        return self.rounds[-1]

    @property
    def beside(self) -> bool:
        """Whether it runs beside the script: in a thread, or a callback."""
        return bool(self.chain) and self.chain[0].function != MAIN

    def covers(self, chain: Chain) -> bool:
        """Whether what runs so is called from its function, as that was called then."""
        n = len(self.chain)
        return (
            0 < n <= len(chain)
            and chain[: n - 1] == self.chain[:-1]
            and _function(chain[n - 1]) == _function(self.chain[-1])
        )


def line_of(chain: Chain) -> Place:
    """The innermost line; our own modules, without a table of lines, count to their caller's."""
    lines = (p for p in reversed(chain) if p.line or not p.file.startswith(_OURS))
    return next(lines, chain[-1])


def _function(place: Place) -> tuple[str, str]:
    return place.file, place.function


def judged(looks: Sequence[Look], sites: Sites) -> list[Loop]:
    """The outermost loops; of one with too few rounds those inside it that have enough within one
    of these: what a loop keeps that runs anew in each round, the outer one keeps."""
    loops = _loops(looks, sites)
    chains = {loop.key: [sites.chain(looks[i].site) for i in loop.at] for loop in loops}

    def inside(y: Loop, x: Loop) -> bool:
        if y is x:
            return False
        within = [c for i, c in zip(y.at, chains[y.key]) if x.first <= looks[i].time <= x.last]
        if not within or not any(x.covers(c) for c in within):
            return False
        return y.depth > x.depth or (y.depth == x.depth and y.key < x.key)

    def chosen(among: list[Loop]) -> list[Loop]:
        out = []
        for x in among:
            if any(inside(x, y) for y in among):
                continue
            inner = [y for y in among if inside(y, x)] if x.passed < LEAST else []
            enough = [_in_one_round(y, x, looks) for y in chosen(inner)]
            out += [y for y in enough if y] or [x]
        return out

    return sorted(chosen(loops), key=lambda x: x.last)


def _in_one_round(inner: Loop, outer: Loop, looks: Sequence[Look]) -> Loop | None:
    """The inner loop in that round of the outer one in which it was looked at most often; without
    the first one, before whose end it may have run outside."""
    ends = [looks[i].time for i in outer.at]
    rounds: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for i, number in zip(inner.at, inner.rounds):
        rounds[bisect(ends, looks[i].time)].append((i, number))
    rounds.pop(0, None)
    most = max(rounds.values(), key=len, default=[])
    if not most or most[-1][1] - most[0][1] + 1 < LEAST:
        return None
    at = tuple(i for i, _ in most)
    first, last = looks[at[0]].time, looks[at[-1]].time
    numbers = tuple(n for _, n in most)
    return replace(inner, at=at, rounds=numbers, first=first, last=last, outer=outer)


def _loops(looks: Sequence[Look], sites: Sites) -> list[Loop]:
    """Of a loop that is not judged the fullest look may be among them."""
    of: defaultdict[int, list[int]] = defaultdict(list)
    for i, look in enumerate(looks):
        if look.loop:
            of[look.loop].append(i)
    return [
        Loop(
            key,
            tuple(at),
            tuple(looks[i].round for i in at),
            sites.chain(looks[at[0]].site),
            sites.depth(looks[at[0]].site),
            looks[at[0]].time,
            looks[at[-1]].time,
        )
        for key, at in of.items()
        if len(at) > 1
    ]
