# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The judge of growth, over what owners hold from round to round."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Callable

import pytest
from maixmem_cli.profiler import growth, hash_tables
from maixmem_cli.profiler.growth import FEW, FLAT, FULL, GROWS, Filled, Held, judge

_N = 60
_OBJECT = 1056
STEADY, TEXT = "steady", "a bytearray that is extended"


def objects(*counts: int) -> list[Held]:
    return [{_OBJECT: n} if n else {} for n in counts]


def objects_of(held: Sequence[int]) -> list[Held]:
    """So many bytes, in objects of a block."""
    return [{32: n // 32} for n in held]


def table(entries: int, first: int = 4) -> int:
    """Bytes of a list's items: it doubles when it is full."""
    room = first
    while room < entries:
        room *= 2
    return 8 * room


def lists(number: int, objects: int) -> Held:
    """So many objects of 32 bytes, each the next in one of so many lists, whose first tables are
    of the line that made them."""
    full, more = divmod(objects, number)
    tables = Counter({table(full + 1): more}) + Counter({table(max(1, full)): number - more})
    del tables[table(1)]
    return Counter({32: objects}) + tables


def entries(number: int) -> int:
    """Bytes of a dict's table with so many."""
    rooms = (1, 2, 4, 6, 8, 10, 12, 17, 23, 29, 37, 47, 59, 73, 97)
    return 32 * -(-16 * next(r for r in rooms if r >= number) // 32)


def in_dicts(each: int, objects: int) -> Held:
    """So many objects of 32 bytes, in dicts of so many."""
    full, more = divmod(objects, each)
    return Counter({32: objects}) + Counter(map(entries, [each] * full + [more] * (more > 0)))


def batches(rounds: int, *sizes: int) -> list[int]:
    out, held, k = [], 0, 0
    for _ in range(rounds):
        held += 1
        if held >= sizes[k % len(sizes)]:
            held, k = 0, k + 1
        out.append(held)
    return out


#: name -> what is held in each round, bytes a round that it leaks
def cut(n: int) -> list[int]:
    """Blocks of a text that is cut each 500 rounds, at looks whose times drift from that."""
    letters = (64 * i if i < 32 else 1000 + 64 * i % 1000 for i in range(n))
    return [900 + k // 32 for k in letters]


GROWING: dict[str, tuple[list[Held], float]] = {
    STEADY: (objects(*range(_N)), _OBJECT),
    "every fourth round": (objects(*(i // 4 for i in range(_N))), _OBJECT / 4),
    "late, to the end": (objects(*[5] * 30, *range(5, 35)), _OBJECT),
    "with what comes and goes on top": (objects(*(i + 9 * (i % 3) for i in range(_N))), _OBJECT),
    "a queue and a leak": (
        objects(*(i + n for i, n in enumerate(batches(_N, 9, 14, 7)))),
        _OBJECT,
    ),
    "a queue that is emptied in the last round too, and a leak": (
        objects(*(n + n % 20 for n in range(1, 61))),
        _OBJECT,
    ),
    TEXT: ([{2400 * i: 1, 32: 1} for i in range(1, _N)], 2400),
    "bytes, made anew, an old copy kept": (
        [{1024 * i: 1, 32: 1, **({30720: 1, 29696: 1} if i > 30 else {})} for i in range(1, _N)],
        1024,
    ),
    "bytes, made anew, old copies kept": (
        [
            {1024 * i: 1, 32: min(i, 6), **{1024 * k: 1 for k in (2, 27, 28, 30, 32) if k < i}}
            for i in range(1, _N)
        ],
        1024,
    ),
    "lists that are made first, then filled": (
        [{32: 3 * min(i, 7) + max(0, i - 7)} for i in range(1, 21)],
        32,
    ),
    "a small one made anew, old copies kept": (
        [{32: 5, 64: 3, **({} if i < 8 else {32 * (i // 3): 1})} for i in range(1, _N)],
        32 / 3,
    ),
    "a list of small numbers": ([{table(i): 1, 32: 1} for i in range(1, _N)], 8),
    "the same, twenty rounds": ([{table(i): 1, 32: 1} for i in range(1, 21)], 8),
    "a list of small numbers, and two old objects": (
        [{table(i): 1, 32: 2 + 2 * (i > 9) + (i > 20)} for i in range(1, _N)],
        8,
    ),
    "objects and their list": ([{_OBJECT: i, table(i): 1} for i in range(1, _N)], _OBJECT + 8),
    "objects as large as a table that their list had": (
        [{64: i + (4 < i <= 8), **({table(i): 1} if i > 8 else {})} for i in range(1, 21)],
        72,
    ),
    "a tuple and two numbers in each entry of a list": (
        [
            {64: i + (4 < i <= 8), 32: 2 * i, **({table(i): 1} if i > 8 else {})}
            for i in range(1, 21)
        ],
        136,
    ),
    "objects in sixteen lists, which doubled twice": (
        [lists(16, i) for i in range(1, 200)],
        40,
    ),
    "objects in four lists": ([lists(4, i) for i in range(1, 200)], 40),
    "objects in lists of eight, the first four places of each from another line": (
        [+Counter({32: i, 64: i // 8 + (i % 8 > 4)}) for i in range(1, 20)],
        40,
    ),
    "objects in dicts of twelve": ([in_dicts(12, i) for i in range(1, 21)], 48),
    "a dict that got two entries a round for a while": (
        [{entries(min(2 * i, i + 12)): 1} for i in range(1, _N)],
        16,
    ),
    "texts of many lengths": ([{64 + 32 * k: 1 for k in range(i)} for i in range(1, _N)], 1000),
}
#: of these, what is one object that is made anew
ONE = {
    TEXT,
    "bytes, made anew, an old copy kept",
    "bytes, made anew, old copies kept",
    "a small one made anew, old copies kept",
    "a list of small numbers",
    "a list of small numbers, and two old objects",
    "a dict that got two entries a round for a while",
    "the same, twenty rounds",
}
STANDING: dict[str, tuple[list[Held], str]] = {
    "made once": (objects(*[20] * _N), FLAT),
    "never": (objects(*[0] * _N), FLAT),
    "a cache": (objects(*(min(i, 12) for i in range(_N))), FULL),
    "a cache that was long in filling": (objects(*(min(i, 45) for i in range(_N))), FULL),
    "a list of small numbers that is full": ([{table(min(i, 20)): 1} for i in range(1, _N)], FULL),
    "objects and their list, to a bound": (
        [{_OBJECT: min(i, 40), table(min(i, 40) + 1): 1} for i in range(1, _N)],
        FULL,
    ),
    "objects in four lists, to a bound": ([lists(4, min(i, 80)) for i in range(1, 160)], FULL),
    "a queue that is emptied": (objects(*(i % 11 for i in range(_N))), FULL),
    "irregular batches": (objects(*batches(128, 9, 21, 14, 30, 11, 26)), FULL),
    "emptied to a half twice, filled for longer since": (
        objects(*range(80), *range(45, 75), *range(42, 60), *[60] * 30, *range(60, 77)),
        FULL,
    ),
    "a text that is begun anew twice, after what is made once": (
        objects(*range(0, 15, 1), *range(2, 16), *range(5, 11)),
        FULL,
    ),
    "filled and emptied by and by": (
        objects(*2 * [*range(40), *range(40, 0, -1)], *range(41)),
        FULL,
    ),
    "batches, the last the longest": (objects(*batches(74, 9, 21, 14, 99)), FULL),
    "given back": (objects(*range(30), *range(30, -1, -1)), FLAT),
    "the last result": (objects(*[0] * (_N - 1), 40), FLAT),
    "slower and slower": (objects(*(int(40 * (1 - 0.8**i)) for i in range(_N))), FULL),
    "three buffers when they are first wanted": (
        objects(*(sum(i >= at for at in (9, 20, 41)) for i in range(_N))),
        FULL,
    ),
    "objects of a size whose steps are like a table's": (
        [{32: 13 if i > 35 else min(2 * i, 10)} for i in range(1, _N)],
        FULL,
    ),
    "a text that is cut, after what the first round made": (objects(200, *cut(93)), FULL),
    "ten rounds of anything": (objects(*range(10)), FEW),
    "each eighth of 20 rounds": (objects(*(i // 8 for i in range(20))), FEW),
    "each fifth of 20 rounds": (objects(*(i // 5 for i in range(20))), FEW),
    "each twentieth of 60 rounds": (objects(*((i + 5) // 20 for i in range(_N))), FEW),
    "each fourth, three times": (objects(*(min(3, i // 4) for i in range(_N))), FULL),
    "twice, far from each other": (objects(*((i > 1) + (i > 5) for i in range(20))), FULL),
    "what comes and goes, the most of it at the end": (
        objects(3, *[16, 6, 22, 9, 27, 13, 4] * 28, 22),
        FULL,
    ),
    "a queue of two, but one at first and once later": (
        objects(0, *[1] * 14, *[2] * 23, 1, *[2] * 21),
        FULL,
    ),
    "ten rounds of nothing more": (objects(*[3] * 10), FLAT),
}


@pytest.mark.parametrize("name", GROWING)
def test_what_grows(name: str) -> None:
    held, wanted = GROWING[name]
    found = judge(range(1, len(held) + 1), held)
    assert found.kind == GROWS and found.nbytes == sum(k * n for k, n in held[-1].items())
    if name != "texts of many lengths":
        assert abs(found.rate - wanted) <= 0.05 * wanted
    assert (found.one > 0.5 * found.rate) == (name in ONE)


@pytest.mark.parametrize("name", STANDING)
def test_what_does_not(name: str) -> None:
    held, wanted = STANDING[name]
    assert judge(range(1, len(held) + 1), held).kind == wanted


@pytest.mark.parametrize("name", GROWING)
def test_looks_may_be_left_out(name: str) -> None:
    held, wanted = GROWING[name]
    kept = [i for i in range(len(held)) if i < 20 or i % 3 == 0]
    found = judge([i + 1 for i in kept], [held[i] for i in kept])
    assert found.kind == GROWS and found.rounds == kept[-1] + 1
    if name != "texts of many lengths":
        assert abs(found.rate - wanted) <= 0.1 * wanted


@pytest.mark.parametrize("size", [1, 9, 20])
def test_a_cache_that_is_filled_by_chance(size: int) -> None:
    """As a program meets more and more of what there is to meet."""
    chance = random.Random(size)
    blamed = 0
    for _ in range(200):
        met: set[int] = set()
        counts = [len(met) for _ in range(_N) if met.add(chance.randrange(size)) is None]
        blamed += judge(range(_N), objects(*counts)).kind == GROWS
    assert blamed <= 0.05 * 200


def test_the_end_counts_all_of_them_and_two_copies_of_what_is_made_anew() -> None:
    steady, text = (judge(range(1, _N), GROWING[n][0][1:_N]) for n in (STEADY, TEXT))
    assert growth.rounds_left([], 1000) is None
    assert growth.rounds_left([steady], 10 * _OBJECT) == 10
    assert growth.rounds_left([steady, steady], 10 * _OBJECT) == 5
    assert growth.rounds_left([text], text.largest + 2 * 2400 * 7) == 7
    assert growth.rounds_left([text], 2 * text.largest + 3 * 2400 * 7, beside=2) == 7
    assert growth.rounds_left([text], text.largest - 1) == 0


@pytest.mark.parametrize(
    "counts, until",
    [
        ([*range(40), *[40] * 20], 41),
        ([i % 25 for i in range(60)], 26),
        ([0, *(1000 + i % 25 for i in range(59))], 27),
        ([*range(60)], None),  # it goes on
        ([*range(55), *[55] * 5], None),  # a pause
        ([*[0] * 60], None),
    ],
)
def test_where_growth_is_seen_to_be_over(counts: list[int], until: int | None) -> None:
    assert growth.settled(range(1, 61), [_OBJECT * n for n in counts]) == until


def _string(each: int, every: int, rounds: int) -> tuple[list[Held], list[Filled]]:
    """One that gets `each` characters in each `every`-th round, and what it fills."""
    lengths = [40 - each * (-i // every) for i in range(rounds)]
    blocks = [-(-(n + 1) // 32) * 32 for n in lengths]
    return [{b: 1} for b in blocks], [{b: n} for b, n in zip(blocks, lengths)]


@pytest.mark.parametrize(
    "each, every, rounds", [(34, 5, 20), (34, 5, 60), (34, 5, 200), (3, 1, 20), (5, 2, 60)]
)
def test_a_string_grows_by_its_characters(each: int, every: int, rounds: int) -> None:
    """By its blocks it was 6.4 bytes a round for 6.8, and one of few characters was not seen."""
    held, filled = _string(each, every, rounds)
    found = judge(range(1, rounds + 1), held, filled)
    assert found.kind == GROWS and abs(found.rate - each / every) <= 0.05 * each / every
    assert found.nbytes == max(held[-1])


def test_a_string_whose_first_blocks_are_those_of_others_grows_by_its_characters() -> None:
    """Of one block it is one of three objects that stay."""
    held, filled = _string(5, 1, 20)
    held = [{32: 3, **({} if i < 6 else h)} for i, h in enumerate(held)]
    found = judge(range(1, 21), held, filled)
    assert found.kind == GROWS and abs(found.rate - 5) <= 0.25


def test_a_buffer_that_is_filled_does_not_grow() -> None:
    held: list[Held] = [{1056: 1}] * _N
    filled: list[Filled] = [{1056: 1025 + i // 4} for i in range(_N)]
    assert judge(range(_N), held, filled).kind == FLAT


def _together(*parts: Callable[[int], int]) -> list[int]:
    return [5000 + sum(part(i) for part in parts) for i in range(200)]


def test_where_a_part_of_what_grows_ends() -> None:
    """A history of 80 beside a leak; their lists double."""
    rounds = range(200)
    history = lambda i: 72 * min(i, 80) + table(min(i, 80) + 1)  # noqa: E731
    leak = lambda i: 1056 * i + table(i + 1)  # noqa: E731
    slow = lambda i: 40 * i  # noqa: E731
    found = growth.slows(rounds, _together(history, slow), [80, 40])
    assert found and found[1:] == ({0}, True) and 70 <= found[0] <= 90
    assert growth.slows(rounds, _together(leak, slow), [1064, 40]) is None  # both go on
    assert growth.slows(rounds, _together(history), [80]) is None  # not a part
    cleared = lambda i: 72 * (i % 60) + table(i % 60 + 1)  # noqa: E731
    found = growth.slows(rounds, _together(cleared, slow), [80, 40])
    assert found and found[1:] == ({0}, True) and 55 <= found[0] <= 62
    both = _together(history, slow, slow)
    found = growth.slows(rounds, both, [80, 40, 40])
    assert found and found[1:] == ({0, 1, 2}, False)  # it may be the two others
    assert growth.slows([], [], [80, 40]) is None
    numbers = _together(lambda i: table(i) + 40 * i)
    assert growth.slows(rounds, numbers, [8, 40]) is not None  # flat since 129
    assert growth.slows(rounds, numbers, [8, 40], {0: 2.0}) is None  # due at 257
    assert growth.slows(rounds, _together(history, slow), [80, 40], {0: 2.0}) is not None
    found = growth.slows(rounds, _together(history, *[slow] * 30), [80] + [40] * 30)
    assert found is None  # 80 of 1280: a part too small to be seen
    large = lambda i: 2000 * min(i, 80)  # noqa: E731
    found = growth.slows(rounds, _together(large, *[slow] * 30), [2000] + [40] * 30)
    assert found and found[2] is False  # so many parts that none is chosen


def test_what_came_for_a_moment_hides_no_end() -> None:
    rounds = range(200)
    held = _together(lambda i: 72 * min(i, 80), lambda i: 40 * i)
    held[3] += 400
    assert growth.slows(rounds, held, [72, 40]) == (80, {0}, True)


@pytest.mark.parametrize("each", [(1, 3), (1, 1), (3, 1, 2)])
def test_lists_of_one_line_grow_by_the_entries_of_all(each: tuple[int, ...]) -> None:
    """So many entries a round in each; by its blocks it was the largest one alone."""
    rounds = range(5, 41)
    held: list[Held] = [Counter(table(n * i) for n in each) for i in rounds]
    entries = [Counter[int]() for _ in rounds]
    for i, of in zip(rounds, entries):
        for n in each:
            of[table(n * i)] += 8 * n * i
    found = judge(rounds, held, [{}] * len(held), entries)
    assert (found.kind, found.rate, found.table) == (GROWS, 8 * sum(each), 2)
    assert 0.8 * 8 * max(each) <= found.one <= 8 * max(each)  # of two as large it is half of both
    assert found.entries == 40 * found.one


def test_a_dict_that_is_emptied_keeps_its_table() -> None:
    """It became larger when most was in it."""
    most = [*range(1, 24), *range(1, 30), *range(1, 48), *range(1, 8)]
    sizes = [entries(max(most[: i + 1])) for i in range(len(most))]
    filled = [Counter({size: 16 * n}) for size, n in zip(sizes, most)]
    rounds = range(1, len(most) + 1)
    assert judge(rounds, [{n: 1} for n in sizes], [{}] * len(most), filled).kind == FULL


def test_what_lives_for_a_while_by_chance_is_no_leak() -> None:
    """Of what comes and goes less is left up to the end, the earlier it was: that alone is no
    growth."""
    for seed in range(40):
        chance = random.Random(seed)
        ends: list[int] = []
        counts = []
        for n in range(200):
            ends = [end for end in [*ends, n + chance.randrange(1, 25)] if end > n]
            counts.append(len(ends))
        assert judge(range(200), objects(*counts)).kind == FULL, seed


def test_small_dicts_of_one_line_grow_all_together() -> None:
    """Filled in turn, each of four gets an entry in each fourth round: none is seen to have room,
    and one alone grew a fourth as fast."""
    held: list[Held] = []
    filled: list[Counter[int]] = []
    for i in range(1, 31):
        each = [n for n in ((i + k) // 4 for k in range(4)) if n]
        held.append(Counter(map(entries, each)))
        filled.append(Counter())
        for n in each:
            filled[-1][entries(n)] += 16 * n if n > 2 else 0
    found = judge(range(1, 31), held, [{}] * len(held), filled)
    assert found.kind == GROWS and abs(found.rate - 16) <= 0.05 * 16 and not found.now_and_then


@pytest.mark.parametrize("of, before, rounds", [(8, 0, 20), (16, 0, 20), (8, 0, 40), (16, 12, 20)])
def test_tables_of_sets_and_dicts_grow_by_their_entries(of: int, before: int, rounds: int) -> None:
    """An entry a round; of a dict that had two a round at first, too."""
    numbers = [i + min(i, before) for i in range(1, rounds + 1)]
    held: list[Held] = [{hash_tables.larger((n - 1) // 2 * 2 * of, of): 1} for n in numbers]
    entries: list[Filled] = [dict.fromkeys(h, of * n) for h, n in zip(held, numbers)]
    found = judge(range(1, rounds + 1), held, [{}] * len(held), entries)
    assert (found.kind, found.rate, found.one, found.entry) == (GROWS, of, of, of)
    assert 1 < found.table < growth.LISTS


def test_a_list_that_became_larger_twice_grows_by_its_entries() -> None:
    rounds = range(9, 30)
    held: list[Held] = [{table(i): 1} for i in rounds]
    entries: list[Filled] = [{table(i): 8 * i} for i in rounds]
    assert judge(rounds, held, [{}] * len(held), entries).rate == 8


@pytest.mark.parametrize("rounds", [range(1, 22), (1, 2, 4, 6, 8, 10, 12, 20)])
def test_a_list_whose_first_entries_were_another_lines_grows_by_its_own(
    rounds: Sequence[int],
) -> None:
    """Of two, of which one gets an entry in each second round; not each may have had a look."""
    numbers = [[n for n in (i, i // 2) if n > 4] for i in rounds]
    held: list[Held] = [Counter(map(table, of)) for of in numbers]
    entries: list[Filled] = [{table(n): 8 * n for n in of} for of in numbers]
    assert judge(rounds, held, [{}] * len(held), entries).rate == 12


def test_lists_beside_what_was_kept_at_first_grow_by_their_entries() -> None:
    """Two lists, an entry in each second round; their first objects are few and become no more,
    but the lists have room for as many."""
    rounds = range(2, 60)
    held: list[Held] = [{32: min(i, 11), table(i // 2 + 2): 2} for i in rounds]
    entries: list[Filled] = [{table(i // 2 + 2): 16 * (i // 2 + 2)} for i in rounds]
    assert judge(rounds, held, [{}] * len(held), entries).rate == 8


def test_bytes_that_are_0_in_part_grow_by_all_of_them() -> None:
    """As those of small numbers in eight bytes each: they have no more room than a block."""
    held: list[Held] = [{-(-24 * i // 32) * 32: 1} for i in range(2, 40)]
    entries: list[Filled] = [dict.fromkeys(h, 16 * i) for i, h in enumerate(held, 2)]
    assert abs(judge(range(2, 40), held, [{}] * len(held), entries).rate - 24) <= 1.2


def test_the_sizes_of_tables_of_sets_and_dicts() -> None:
    """As py/map.c has them, in whole blocks; even steps may be those of bytes."""
    of_dicts, of_sets = (
        {32: 64, 64: 96, 192: 288, 288: 384},
        {32: 64, 96: 160, 10**6: 15 * 10**5},
    )
    for of, after in ((16, of_dicts), (8, of_sets)):
        assert {n: hash_tables.larger(n, of) for n in after} == after
    assert hash_tables.entry_of([32, 64, 96, 160]) == 8
    assert hash_tables.entry_of([160, 192, 288, 384, 480]) == 16
    assert hash_tables.entry_of([192, 288, 384, 480]) == hash_tables.entry_of([32, 64, 96]) == 0
    assert hash_tables.entry_of([32, 64, 128, 256]) == hash_tables.entry_of([]) == 0


def test_the_last_rounds_tell_where_each_adds_as_much() -> None:
    counts = [*range(0, 24, 2), *range(24, 36)]
    assert judge(range(1, 25), objects(*counts)).rate == _OBJECT


def test_even_steps_go_on_whatever_was_before() -> None:
    """Two pictures that stay, then a timer's 864 bytes in each third round."""
    held = [7104, 17056, *(26784 + 864 * (n // 3) for n in range(18))]
    verdict = judge([*range(1, 21)], objects_of(held))
    assert verdict.kind == GROWS and verdict.rate == pytest.approx(288, rel=0.05)
    filled = [7104, 17056, *(26784 + 864 * min(3, n // 3) for n in range(18))]
    assert judge([*range(1, 21)], objects_of(filled)).kind == FULL


def test_a_queue_that_is_emptied_between_two_looks_has_some_at_the_next_one() -> None:
    """Each time some more, as the looks go: that is no leak."""
    looks = [n * 199 // 39 + 1 for n in range(40)]
    found = judge(looks, objects(*(n % 80 for n in looks)))
    assert found.kind == FULL


@pytest.mark.parametrize("each", [2, 3, 4])
@pytest.mark.parametrize("rounds", [20, 60])
def test_what_is_kept_each_few_rounds_has_its_rate(each: int, rounds: int) -> None:
    """Wherever the first one is kept: it was 10 to 17 % less at twenty rounds."""
    for first in range(each):
        held = objects(*((n + each - 1 - first) // each for n in range(rounds)))
        found = judge(range(1, rounds + 1), held)
        assert found.kind == GROWS
        assert found.rate == pytest.approx(_OBJECT / each, rel=0.05), first


def test_a_text_that_grows_each_fifth_round_has_its_rate_where_rounds_are_left_out() -> None:
    """As a board looked at one, whose first blocks were those of others: 2.4 bytes were said for
    2.6."""
    looks = [1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 23, 24, 26, 27, 29, 30, 32, 33]
    looks += [36, 39, 42, 44, 47, 50, 51, 53, 54, 56, 57, 59]
    held: list[Held] = [*[{}] * 3, *[{32: 3}] * 7]
    lengths = [13 * (n // 5) for n in looks[10:]]
    blocks = [-(-(n + 1) // 32) * 32 for n in lengths]
    held += [{32: 2, b: 1} for b in blocks]
    filled = [*[{}] * 10, *({b: n} for b, n in zip(blocks, lengths))]
    assert judge(looks, held, filled).rate == pytest.approx(2.6, rel=0.05)


def test_what_the_first_round_made_is_no_step_of_what_is_kept_now_and_then() -> None:
    """One more in round 38 of 58, long after it, is not seen to come again."""
    held = objects(*((n > 0) + (n > 37) for n in range(58)))
    assert judge(range(1, 59), held).kind == FULL
    again = objects(*((n > 0) + (n > 19) + (n > 38) for n in range(58)))
    assert judge(range(1, 59), again).kind == FEW


def test_a_text_that_is_computed_now_and_then_and_some_longer_is_no_leak() -> None:
    """A report each 25 rounds, of 288 bytes, then of 320."""
    held: list[Held] = [{}] * 25 + [{288: 1}] * 25 + [{320: 1}] * 10
    assert judge(range(1, 61), held).kind == FULL
    kept: list[Held] = [{}] * 25 + [{288: 1}] * 25 + [{288: 1, 320: 1}] * 10
    assert judge(range(1, 61), kept).kind == FEW


def test_no_looks() -> None:
    assert judge([], []).kind == FLAT
    assert growth.lowest([]) == []
