# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The books of both heaps, over events that are made up."""

from __future__ import annotations

import tracemalloc

from maixmem_cli.emulator.readers import tracer
from maixmem_cli.emulator.readers.tracer import Event
from maixmem_cli.heap.blocks import packed
from maixmem_cli.heap.heaps import GcHeap, SystemHeap
from maixmem_cli.profiler.ledger import BEFORE, Ledger, at_look

_BLOCKS = 1000


_BEGAN = (
    SystemHeap(0, 0x80100000, 0x80100000, 4096, ()),
    GcHeap(0, 0, 0, bytes(_BLOCKS)),
)


def books() -> Ledger:
    return Ledger(*_BEGAN)


def new(site: int, first: int, blocks: int) -> Event:
    return Event(0, tracer.GC_NEW, site, first, blocks, end=1)


def free(first: int, blocks: int) -> Event:
    return Event(0, tracer.GC_FREE, tracer.NOWHERE, first, blocks)


def taken_over(*events: Event) -> set[tuple[int, int]]:
    found = books()
    found.feed([*events, Event(1, tracer.MARK, 3, 1, 0)])
    return found.taken_over


def test_one_object_alone_that_is_freed_after_a_larger_one_was_moved_there() -> None:
    small, large = new(1, 0, 2), new(2, 10, 3)
    assert taken_over(small, large, free(0, 2)) == {(1, 2)}
    assert taken_over(small, new(1, 10, 3), free(0, 2)) == set()  # its own
    assert taken_over(small, new(2, 10, 2), free(0, 2)) == set()  # no larger
    assert taken_over(small, large, free(10, 3), free(0, 2)) == set()
    assert taken_over(small, large, Event(0, tracer.MARK, 3, 1, 0), free(0, 2)) == set()


def test_a_cell_is_of_the_function_and_not_of_the_call() -> None:
    found = books()
    found.feed([new(1, 0, 1), new(1, 1, 1), Event(0, tracer.CELL, 2, 1, 1), new(2, 2, 3)])
    assert found.gc.held == {BEFORE: 0, 1: 32, 2: 128}
    assert (found.gc.count[1], found.gc.count[2], found.gc.used) == (1, 2, 160)
    found.feed_one(free(1, 4))
    assert found.gc.held[2] == 0


def test_a_look_has_each_object_of_who_made_it_as_large_as_it_is() -> None:
    found = books()
    found.feed([new(1, 0, 2), new(2, 2, 1), new(2, 3, 3), new(1, 9, 1)])
    states = bytes((1, 2, 1, 1, 2, 2, 0, 0, 0, 0, 1)).ljust(_BLOCKS + 64, b"\0")  # 10: of before
    slack = b"\4\0\x1f\x88\0\0\0"  # and of the last eight words more are 0
    found.feed_one(Event(9, tracer.LOOK, 1, 7, 5, end=3, used=packed(states), slack=slack))
    (look,) = found.looks
    assert look.gc == {(1, 64): 1, (2, 32): 1, (2, 96): 1, (BEFORE, 32): 1}
    assert look.filled == {(1, 64): 60, (2, 96): 65}
    assert look.entries == {(1, 64): 64, (2, 96): 8}
    assert (look.loop, look.round, found.fullest.blocks) == (5, 3, 7)


def test_a_collection_that_frees_all_adds_nothing_to_the_books() -> None:
    found = books()
    found.feed([new(1, i, 1) for i in range(_BLOCKS)])
    collection = [free(i, 1) for i in range(_BLOCKS)]
    tracemalloc.start()
    for event in collection:
        found.feed_one(event)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.gc.used == 0 and kept < 10 * _BLOCKS, kept


def test_the_heap_at_one_look_is_as_it_was_then() -> None:
    def look(time: int, blocks: int, states: bytes) -> Event:
        return Event(time, tracer.LOOK, 1, blocks, 0, used=packed(states.ljust(_BLOCKS, b"\0")))

    first = [new(1, 0, 2), new(2, 2, 1), look(1, 3, b"\1\2\1")]
    later = [free(0, 2), look(2, 1, b"\0\0\1"), new(3, 0, 1)._replace(time=3)]
    at = at_look(*_BEGAN, [*first, *later], 2)
    assert (at.blocks, at.time, at.owners[:3]) == (1, 2, (None, None, 2))
