# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is read from a program's last rounds: the round in which it has no memory is the one in
which the same heap, run on, has none."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import Callable

import pytest
from maixmem_cli.emulator.readers.tracer import GC_FREE, GC_GROW, GC_NEW, MALLOC, Event, Place
from maixmem_cli.heap.blocks import HEAD, TAIL, packed
from maixmem_cli.heap.heaps import BLOCK
from maixmem_cli.profiler import last_rounds
from maixmem_cli.profiler.forecast import Heap
from maixmem_cli.profiler.growth import GROWS, Verdict
from maixmem_cli.profiler.leaks import Growth
from maixmem_cli.profiler.ledger import Fullest, Look

_SEEN = 20  # rounds
_GROWING, _OTHER, _COPY = 1, 2, 3  # lines, which are sites here


@dataclass
class Board:
    """A heap whose program says what is in use; the events and looks of it."""

    blocks: int
    time: int = 0
    heap: Heap = field(init=False)
    live: dict[str, int] = field(default_factory=dict)  # names
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict)  # at: (blocks, site)
    events: list[Event] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.heap = Heap(bytearray(self.blocks))

    def new(self, site: int, n: int, name: str = "") -> bool:
        """Whether there was room, after a collection."""
        at = self.heap.take(n)
        if at is None:
            self.collect()
            at = self.heap.take(n)
        if at is None:
            return False
        self.sizes[at] = n, site
        last = self.events[-1] if self.events else None
        if (
            last and last[1:3] == (GC_NEW, site) and last.a + last.asked == at
        ):  # one event for both
            self.events[-1] = last._replace(asked=last.asked + n, end=last.end + 1)
        else:
            self._did(GC_NEW, site, at, n, end=1)
        if name:
            self.live[name] = at
        return True

    def _did(self, kind: int, site: int, at: int, n: int, end: int = 0) -> None:
        self.time += 1
        self.events.append(Event(self.time, kind, site, at, n, end=end))

    def free(self, at: int) -> None:
        n, site = self.sizes.pop(at)
        self.heap.give(at, n)
        self._did(GC_FREE, site, at, n)

    def grow(self, name: str, n: int) -> bool:
        """As realloc() does."""
        at, (before, site) = self.live[name], self.sizes[self.live[name]]
        if self.heap.grow(at, before, n - before):
            self.sizes[at] = n, site
            self._did(GC_GROW, site, at + before, n - before)
            return True
        if not self.new(site, n, name):
            return False
        self.free(at)
        return True

    def collect(self) -> None:
        for at in sorted(self.sizes.keys() - self.live.values()):
            self.free(at)
        self.heap.swept()

    def look(self, number: int) -> None:
        """At the end of a round."""
        objects = (self.sizes[at] for at in self.live.values())
        used = Counter((site, n * BLOCK) for n, site in objects)
        self.looks.append(Look(self.time, 0, used, Counter(), loop=1, round=number, site=1))

    @property
    def fullest(self) -> Fullest:
        owners: list[int | None] = [None] * self.blocks
        states = bytearray(self.blocks)
        for at, (n, site) in self.sizes.items():
            owners[at : at + n] = [site] * n
            if at in self.live.values():
                states[at : at + n] = bytes([HEAD, *[TAIL] * (n - 1)])
        return Fullest(len(self.live), 1, packed(bytes(states)), self.time, tuple(owners))

    def forecast(self, *verdicts: Verdict) -> tuple[int, int]:
        """Rounds in all, at least and at most. `verdicts`: of the lines, in their order."""
        grows = [Growth("gc", _place(site), v) for site, v in enumerate(verdicts, _GROWING)]
        left = last_rounds.rounds_left(grows, self.looks, self.fullest, self.events, _place)
        assert left
        seen = self.looks[-1].round
        return left[0] + seen, left[1] + seen


Program = Callable[[Board, int], bool]  #: does a round; whether there was memory


def _place(site: int) -> Place:
    return Place("main.py", "<module>", site)


def list_anew(board: Board, number: int) -> bool:
    """A list that is made anew, and a value of each round, which is in use as it ends."""
    return (
        board.new(_OTHER, 2, "passing")
        and board.new(_GROWING, 10 + 5 * number, "list")
        and board.new(_OTHER, 1)
    )


def pictures(board: Board, number: int) -> bool:
    """Objects, larger than the list of them, which the same line makes anew."""
    return (
        board.new(_GROWING, 20, f"picture {number}")
        and board.new(_GROWING, number // 4 + 1, "list")
        and board.new(_OTHER, 1)
    )


def kept(board: Board, number: int, lists: int = 1) -> bool:
    """Objects of four blocks, and the lists of them, which have one more in turn."""
    return (
        listed(board, _GROWING, f"list {number % lists}", number // lists)
        and board.new(_GROWING, 4, f"item {number}")
        and board.new(_OTHER, 3)
    )


def listed(board: Board, site: int, name: str, items: int) -> bool:
    """One more item in that list."""
    if name not in board.live and not board.new(site, 1, name):
        return False
    size = board.sizes[board.live[name]][0]
    return items < size * BLOCK // 8 or board.grow(name, 2 * size)


def appended(board: Board, site: int, name: str, n: int) -> bool:
    """A list that is appended to, until its table has n blocks."""
    sizes = [1 << k for k in range(1, n.bit_length())]
    return board.new(site, 1, name) and all(board.grow(name, size) for size in sizes)


def lists(board: Board, number: int) -> bool:
    """Lists that are kept in one, and a longer one of the round alone."""
    return (
        appended(board, _OTHER, "rows", 16)
        and appended(board, _GROWING, f"item {number}", 8)
        and listed(board, _GROWING, "list", number)
    )


def comprehensions(board: Board, number: int) -> bool:
    """A list that is kept, a longer one, and a dict whose tables are allocated anew."""
    return (
        appended(board, _OTHER, "rows", 32)
        and appended(board, _GROWING, f"item {number}", 8)
        and listed(board, _GROWING, "list", number)
        and rehashed(board, [1, 2, 3, 4, 5, 6, 9, 12])
    )


def rehashed(board: Board, sizes: list[int]) -> bool:
    """The tables of a dict that gets more and more entries."""
    if not board.new(_OTHER, sizes[0], "dict"):
        return False
    for size in sizes[1:]:
        before = board.live["dict"]
        if not board.new(_OTHER, size, "dict"):
            return False
        board.free(before)
    return True


def by_class(board: Board, number: int) -> bool:
    """Three lists, which are larger within a few rounds."""
    return kept(board, number, lists=3)


def by_hour(board: Board, number: int) -> bool:
    """A list for each five rounds, of objects that are kept."""
    return (
        listed(board, _GROWING, f"list {number // 5}", number % 5)
        and board.new(_GROWING, 1, f"item {number}")
        and board.new(_OTHER, 5)
    )


def chained(board: Board, number: int) -> bool:
    """Objects that are in no list: each has the one before."""
    return board.new(_GROWING, 2, f"item {number}") and board.new(_OTHER, 3)


def copied(board: Board, number: int) -> bool:
    """The same, and in each round a copy, larger by two blocks for each of them."""
    return kept(board, number) and board.new(_COPY, 3 + 2 * number) and board.new(_OTHER, 1)


def given_back(board: Board, number: int) -> bool:
    """A list of objects, and pieces of other sizes, one behind the other, which the program gives
    back."""
    sizes = {"a": 2, "b": 9, "c": 3}
    if not all(board.new(_OTHER, n, name) for name, n in sizes.items()):
        return False
    for name in ("c", "a", "b"):
        board.free(board.live.pop(name))
    return listed(board, _GROWING, "list", number) and board.new(_GROWING, 4, f"item {number}")


def compiled(board: Board, number: int) -> bool:
    """A compiler's stack and a tree, one behind the other in each second round; what is kept, and
    more that passes."""
    return (
        board.new(_OTHER, 20)
        and (number % 2 == 0 or board.new(_COPY, 1))
        and board.new(_OTHER, 20)
        and board.new(_GROWING, 4, f"item {number}")
        and all(board.new(site, 3) for site in (5, _COPY) * 3)
    )


def seen(program: Program, blocks: int) -> Board:
    """After the first rounds."""
    board = Board(blocks)
    for number in range(_SEEN):
        assert program(board, number)
        board.look(number)
    return board


def died(board: Board, program: Program) -> int:
    """The round in which it has no memory."""
    return next(n for n in count(_SEEN) if not program(board, n))


#: name -> a program, and what the judge says of its growing line
PROGRAMS: dict[str, tuple[Program, Verdict]] = {
    "a list made anew": (
        list_anew,
        Verdict(GROWS, _SEEN, 0, rate=160, one=160, largest=105 * BLOCK),
    ),
    "pictures in a list made anew": (
        pictures,
        Verdict(GROWS, _SEEN, 0, rate=20 * BLOCK + 8, one=8, largest=5 * BLOCK),
    ),
    "objects in a list": (kept, Verdict(GROWS, _SEEN, 0, rate=4 * BLOCK)),
    "objects in three lists": (by_class, Verdict(GROWS, _SEEN, 0, rate=4 * BLOCK)),
    "lists that were appended to": (lists, Verdict(GROWS, _SEEN, 0, rate=8 * BLOCK)),
    "objects in no list": (chained, Verdict(GROWS, _SEEN, 0, rate=2 * BLOCK)),
    "a copy of them in each round": (copied, Verdict(GROWS, _SEEN, 0, rate=4 * BLOCK)),
}


@pytest.mark.parametrize("blocks", [600, 1500, 3000, 4000, 5000, 16000])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_round_in_which_it_dies(name: str, blocks: int) -> None:
    program, verdict = PROGRAMS[name]
    least, most, at = held_against(program, blocks, verdict)
    assert least - 3 <= 1.03 * at and 0.97 * at <= most + 3, (least, at, most)
    if program is not copied:  # else the holes between them may be too small from the first
        assert most - least <= (0.4 if verdict.one else 0.01) * most


@pytest.mark.parametrize("blocks", [600, 1500, 3000, 5000, 16000])
def test_lists_one_after_the_other_are_no_large_one(blocks: int) -> None:
    """The last rounds began in the middle of one: its first block is not among theirs."""
    item = Verdict(GROWS, _SEEN, 0, rate=1.4 * BLOCK)
    least, most, at = held_against(by_hour, blocks, item)
    assert abs(least - at) <= 0.04 * at and most == least, (least, at)


@pytest.mark.parametrize("blocks", [1500, 3000, 5000, 16000])
def test_what_becomes_larger_step_by_step_leaves_other_holes(blocks: int) -> None:
    """As large as it is at last, in one piece, it would lie elsewhere."""
    item = Verdict(GROWS, _SEEN, 0, rate=8 * BLOCK)
    least, most, at = held_against(comprehensions, blocks, item)
    assert abs(least - at) <= 0.03 * at and most == least, (least, at)


def by_another_line(board: Board, number: int) -> bool:
    """Objects, and the list of them, which grows in another line."""
    return (
        board.new(_GROWING, 1, f"item {number}")
        and listed(board, _OTHER, "list", number)
        and board.new(_COPY, 2)
    )


@pytest.mark.parametrize("blocks", [1500, 4000, 16000])
def test_the_list_of_another_line_is_not_counted_twice(blocks: int) -> None:
    item = Verdict(GROWS, _SEEN, 0, rate=BLOCK)
    table = Verdict(GROWS, _SEEN, 0, rate=8, one=8, largest=8 * BLOCK, table=2.0)
    least, most, at = held_against(by_another_line, blocks, item, table)
    assert abs(least - at) <= 0.03 * at and most == least, (least, at)


@pytest.mark.parametrize("blocks", [1500, 3000, 5000, 16000])
def test_pieces_that_are_given_back_are_as_large_as_that(blocks: int) -> None:
    """Several pieces that follow each other are one event, in which only their number is."""
    item = Verdict(GROWS, _SEEN, 0, rate=4 * BLOCK)
    least, most, at = held_against(given_back, blocks, item)
    assert abs(least - at) <= 0.03 * at and most == least, (least, at)


@pytest.mark.parametrize("blocks", [1500, 4000, 16000])
@pytest.mark.parametrize("period", [20, 30])
def test_what_is_larger_by_the_round_may_go_on_as_lately_or_as_on_the_whole(
    blocks: int, period: int
) -> None:
    """Rows of 4 up to 33 blocks rose over just the rounds that were seen: 453 was said for 513."""

    def rows(board: Board, number: int) -> bool:
        size = 4 + number % period
        return board.new(_GROWING, size, f"row {number}") and board.new(_OTHER, 2)

    item = Verdict(GROWS, _SEEN, 0, rate=13.5 * BLOCK)
    least, most, at = held_against(rows, blocks, item)
    assert 0.9 * at <= most and least <= 1.1 * at, (least, at, most)
    assert least < 0.9 * most


@pytest.mark.parametrize("blocks", [1500, 3000])
def test_pieces_of_one_event_are_as_large_as_others_of_their_line(blocks: int) -> None:
    """Not yet freed, nothing but that is known of them; one of 39 blocks gets no room earlier."""
    item = Verdict(GROWS, _SEEN, 0, rate=4 * BLOCK)
    least, most, at = held_against(compiled, blocks, item)
    assert abs(least - at) <= 0.01 * at and most == least, (least, at)


@pytest.mark.parametrize("without", [1, 2])
def test_rounds_since_the_last_look_are_no_longer_left(without: int) -> None:
    """Not every round is looked at."""
    board = seen(kept, 3000)
    verdict = Verdict(GROWS, _SEEN, 0, rate=4 * BLOCK)
    end = board.forecast(verdict)
    del board.looks[-1 - without : -1]
    assert board.forecast(verdict) == end
    del board.looks[-1]
    assert board.forecast(verdict) == end


def test_chunks_of_the_system_heap_are_no_blocks() -> None:
    """Their events have addresses, from 0x80000000 on: a table of as many blocks is 2 GB, which a
    page in a browser has not."""
    board = seen(kept, 3000)
    verdict = Verdict(GROWS, _SEEN, 0, rate=4 * BLOCK)
    end = board.forecast(verdict)
    board.events.insert(-1, Event(board.time, MALLOC, _OTHER, 0x80400000, 4096, size=4096))
    tracemalloc.start()
    assert board.forecast(verdict) == end
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10 << 20


def held_against(program: Program, blocks: int, *verdicts: Verdict) -> tuple[int, int, int]:
    """The first and the last round that are forecast, and the one in which it dies."""
    board = seen(program, blocks)
    return *board.forecast(*verdicts), died(board, program)
