# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Leaks, and what looks like one, as sequences of what a line has in use; and marking, in a RAM
made by hand."""

from __future__ import annotations

import struct
from collections import Counter

import pytest
from k210_model.heap import RAM_START
from maixmem_cli.emulator.readers.heaps import FREE, HEAD, MARKED, TAIL, GcHeap
from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler import leaks, live
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


def test_marking() -> None:
    """A root leads to one object, that to a second, a third is garbage; pointers into the middle
    do not count."""
    pool, root = RAM_START + 1024, RAM_START + 64
    states = bytes([HEAD, TAIL, MARKED, HEAD, TAIL, FREE, HEAD])
    ram = bytearray(4096)
    struct.pack_into("<Q", ram, root - RAM_START, pool)
    struct.pack_into("<Q", ram, 1024 + 40, pool + 2 * 32)  # in the tail of the first
    struct.pack_into("<Q", ram, 1024 + 2 * 32, pool + 3 * 32 + 8)  # not where one begins
    gc = GcHeap(0, 0, pool, states)
    expected = [HEAD, TAIL, HEAD, 0, 0, 0, 0]
    assert list(live.mark(ram, gc, [(root, root + 8)], [])) == expected
    assert list(live.mark(ram, gc, [], [pool + 6 * 32, 5])) == [0] * 6 + [HEAD]
