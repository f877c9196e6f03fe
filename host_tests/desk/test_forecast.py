# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The model of the GC heap that says when leaks end a program."""

from __future__ import annotations

import pytest
from maixmem_cli.profiler import forecast
from maixmem_cli.profiler.forecast import Heap, Made, One


def test_blocks_are_taken_as_the_firmware_does() -> None:
    heap = Heap(bytearray(b"\1\0\0\1\0\0\0\0\0\0"))
    assert heap.take(3) == 4  # the first that is large enough
    assert heap.take(1) == 1  # and the next search begins behind one block
    assert heap.take(4) is None
    heap.give(4, 3)
    assert heap.take(6) == 4
    assert heap.take(1) == 2 and heap.take(1) is None
    heap.give(4, 6)
    assert not heap.grow(1, 1, 3) and heap.grow(3, 1, 2)
    assert heap.used == bytearray(b"\1\1\1\1\1\1\0\0\0\0")


def left(blocks: int, made: list[Made], *ones: One, rounds: int = 1) -> int | None:
    found = forecast.rounds_left(bytearray(blocks), [], made, rounds, ones)
    return found and found[0]


def test_what_is_kept_one_by_one_fills_the_heap() -> None:
    assert left(100, [Made(10, kept=True)]) == 10
    assert left(100, [Made(5), Made(10, kept=True)]) == 6  # holes of five hold no ten
    assert left(100, [Made(5, kept=True)] * 4, rounds=2) == 10
    assert left(100, [Made(5), Made(3, given=0)]) is None


def test_a_string_that_is_made_anew_needs_two() -> None:
    made = [Made(0, one=0), Made(1)]
    moves = left(1000, made, One(320, 320, 0, moves=True))
    here = left(1000, made, One(320, 320, 0))
    assert moves is not None and here is not None
    assert moves < 55 < here


def test_it_is_larger_in_the_first_round_too() -> None:
    """Copies of 20, 30 and 40 blocks behind that of 10, one of 50 where the first were; no 60."""
    used = bytearray(b"\1" * 10 + bytes(90))
    one = One(320, 320, 0, moves=True)
    assert forecast.rounds_left(used, [], [Made(0, one=0)], 1, [one]) == (4, 4)


def test_a_table_has_an_entry_more_in_each_round() -> None:
    """Also where it became larger in one of eight rounds that were seen."""
    made = [Made(4, kept=True), Made(4)] * 8
    larger = [*made[:8], Made(0, one=0), *made[8:]]
    never, once = (
        left(4000, of, One(16, 64, None, table=2.0, full=40), rounds=8) for of in (made, larger)
    )
    assert never == once == 510


def test_a_table_finds_no_piece_between_what_is_kept() -> None:
    """Half of the heap is garbage between kept objects: by bytes there would be room."""
    made = [Made(4, kept=True), Made(0, one=0), Made(4)]
    alone = left(4000, made[:1] + made[2:])
    table = left(4000, made, One(32, 64, None, table=2.0))
    assert alone is not None and table is not None and table < 0.7 * alone


def test_garbage_of_before_is_given_back_by_a_collection() -> None:
    full = forecast.rounds_left(bytearray(b"\1" * 50), [(10, 20)], [Made(2, kept=True)], 1, [])
    assert full == (10, 10)


def test_one_that_grows_among_others_has_a_first_and_a_last_round() -> None:
    """What lies in its way is chance. What is kept one by one ends in one round."""
    made = [Made(0, one=0), Made(25), Made(1)]
    found = forecast.rounds_left(bytearray(9000), [], made, 1, [One(320, 320, 0)])
    assert found and 300 < found[0] < 0.85 * found[1] < 900
    made = [Made(0, one=0), Made(5, kept=True)]
    steady = forecast.rounds_left(bytearray(9000), [], made, 1, [One(8, 64, 0, table=2.0)])
    assert steady and steady[0] == steady[1]


def test_chance_is_which_holes_are_left_for_a_piece_that_passes() -> None:
    """A compiler needs 32 blocks in each round; most is free as it gets none, between what five
    lines keep. Of a piece that is hardly larger than what is kept there is little chance."""
    made = [Made(32, given=0), *[m for _ in range(5) for m in (Made(1, kept=True), Made(4))]]
    found = forecast.rounds_left(bytearray(6000), [], made, 1, [])
    assert found and found[0] < found[1]
    small = forecast.rounds_left(bytearray(6000), [], [Made(2), Made(1, kept=True)], 1, [])
    assert small and small[0] == small[1]


def test_what_becomes_larger_moves_where_something_is_behind_it() -> None:
    made = [Made(1, later=True), Made(2, of=1, kept=True)]
    assert left(100, made) == 50  # it grows where it lies
    made = [Made(1, later=True), Made(1, kept=True), Made(2, of=2, kept=True)]
    assert left(99, made) == 32  # its first block is free again; it needs both at once


def test_what_ends_far_away_is_as_if_each_round_were_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = [Made(0, one=0), Made(1)]
    one = One(2, 320, 0, moves=True)
    fast = left(2000, made, one)
    monkeypatch.setattr(forecast, "_FAR", 1_000_000)
    slow = left(2000, made, one)
    assert fast and slow and abs(fast - slow) < 0.01 * slow and slow > 5000
