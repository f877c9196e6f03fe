# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Leaks, and what looks like one, as sequences of what a line has in use."""

from __future__ import annotations

from collections import Counter

import pytest
from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler import leaks
from maixmem_cli.profiler.ledger import Look

_ROUNDS = 60
PLACE = Place("main.py", "f", 7)
#: name -> objects in use in each round, whether that leaks
COURSES = {
    "steady": (range(_ROUNDS), True),
    "tidied up at the end": ([*range(_ROUNDS), 0, 0, 0], True),
    "every fourth round": ([i // 4 for i in range(_ROUNDS)], True),
    "late, to the end": ([*[0] * 30, *range(30)], True),
    "with garbage on top": ([i + 9 * (i % 3) for i in range(_ROUNDS)], True),
    "a cache": ([min(i, 12) for i in range(_ROUNDS)], False),
    "made once": ([20] * _ROUNDS, False),
    "a queue that is emptied": ([i % 11 for i in range(_ROUNDS)], False),
    "made before the loop": ([*range(10), *[10] * 50], False),
    "given back": ([*range(30), *range(30, 0, -1)], False),
    "the last result": ([0] * (_ROUNDS - 1) + [40], False),
    "slower and slower": ([int(40 * (1 - 0.8**i)) for i in range(_ROUNDS)], False),
}


def looks(course: list[int], heap: str) -> list[Look]:
    kept = [Counter({(1, 1056): n, (1, 32): n}) if n else Counter() for n in course]
    none: Counter[tuple[int, int]] = Counter()
    pairs = [(k, none) if heap == "gc" else (none, k) for k in kept]
    return [Look(100 * i, 3 * i, gc, system) for i, (gc, system) in enumerate(pairs)]


@pytest.mark.parametrize("heap", ["gc", "heap"])
@pytest.mark.parametrize("name", COURSES)
def test_course(name: str, heap: str) -> None:
    course, is_leak = COURSES[name]
    found = leaks.growths(looks(list(course), heap), lambda site: PLACE)
    assert [g.leaks for g in found if g.leaks] == [True] * is_leak
    for g in found:
        assert (g.heap, g.place) == (heap, PLACE)
        assert g.each == 1088 if g.leaks else g.nbytes == max(course) * 1088


def test_a_full_cache_is_told() -> None:
    course, _ = COURSES["a cache"]
    (found,) = leaks.growths(looks(list(course), "gc"), lambda site: PLACE)
    assert not found.leaks and found.rounds == 12


def test_no_looks() -> None:
    assert leaks.growths([], lambda site: PLACE) == []


_OUTER, _INNER = 0x1000, 0x2000  # loops


def in_loops(outer: list[int], inner: list[int]) -> list[Look]:
    """Looks at two loops, one in the other: what is held at the end of each round of both."""
    out = []
    for i, n in enumerate(outer):
        for k, m in enumerate((*inner, n)):
            of = (_OUTER, i) if k == len(inner) else (_INNER, i * len(inner) + k)
            kept = Counter({(1, 1056): m})
            out.append(Look(10 * len(out), 3 * len(out), kept, Counter(), *of))
    return out


def test_the_same_point_of_each_round_counts() -> None:
    """A list that is filled and dropped in each round is none; one that is not is one, with the
    bytes of a round of the outer loop."""
    filled = list(range(1, 12))
    assert leaks.growths(in_loops([1] * 20, filled), lambda site: PLACE) == []
    kept = in_loops([3 * i for i in range(20)], [])
    (found,) = leaks.growths(kept, lambda site: PLACE)
    assert found.leaks and found.by_loop and found.each == 3 * 1056


def test_made_before_a_longer_loop() -> None:
    first = [Look(i, 3 * i, Counter({(1, 1056): i}), Counter(), _OUTER, i) for i in range(20)]
    kept = Counter({(1, 1056): 19})
    then = [Look(20 + i, 60, kept, Counter(), _INNER, i) for i in (1, 2, 4, 8, 16, 32)]
    assert [g.leaks for g in leaks.growths(first, lambda site: PLACE)] == [True]
    assert leaks.growths(first + then, lambda site: PLACE) == []
