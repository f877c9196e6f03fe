# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which loop judges a line, and what is said of it, over looks that are made up."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Callable

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler import growth, leaks, loops
from maixmem_cli.profiler.growth import LEAST
from maixmem_cli.profiler.leaks import CACHE, FIRMWARE, LEAK, ONCE, RECURSION
from maixmem_cli.profiler.ledger import Look
from maixmem_cli.profiler.loops import Chain

MAIN = Place("main.py", "<module>", 20)
WORK = Place("main.py", "work", 7)
CHAINS: dict[int, Chain] = {1: (MAIN,), 2: (MAIN, WORK), 3: (Place("main.py", "thread", 3),)}
SITES = loops.Sites(CHAINS.__getitem__, lambda site: len(CHAINS[site]))
_SETUP, _INNER, _OUTER, _ENDS = 0x1000, 0x2000, 0x3000, 0x4000  # keys rise with the bytecode
NONE: Counter[tuple[int, int]] = Counter()


def loop(key: int, counts: list[int], *, start: int = 0, site: int = 1, by: int = 1) -> list[Look]:
    """Looks at the ends of its rounds; a site's objects then."""
    return [
        Look(start + 10 * i, 3 * i, Counter({(by, 1056): n}) if n else NONE, NONE, key, i, site)
        for i, n in enumerate(counts, 1)
    ]


def kinds(looks: list[Look], **more: object) -> list[str]:
    found = leaks.judged(looks, SITES, **more)  # type: ignore[arg-type]
    return [g.kind for g in found.growths]


def test_what_grows_in_the_loop_at_the_end_leaks() -> None:
    (found,) = leaks.judged(loop(_OUTER, [*range(40)]), SITES).growths
    assert (found.heap, found.place, found.kind) == ("gc", MAIN, LEAK)
    assert (found.each, found.rounds) == (1056, 40)
    assert kinds(loop(_OUTER, [min(i, 9) for i in range(40)])) == [CACHE]


def test_our_own_modules_without_lines_count_to_the_line_that_called_them() -> None:
    ours, theirs = Place("maixmem_k210_kpu", "run", 0), Place("helper", "make", 0)
    assert loops.line_of((MAIN, WORK, ours)) == WORK
    assert loops.line_of((MAIN, WORK, theirs)) == theirs
    assert loops.line_of((ours,)) == ours
    sites = loops.Sites(lambda site: (MAIN, ours), lambda site: 2)
    (found,) = leaks.judged(loop(_OUTER, [*range(40)]), sites).growths
    assert found.place == MAIN


def test_made_once_is_flat_in_a_later_loop_whatever_the_lengths() -> None:
    setup = loop(_SETUP, [*range(250)])
    assert kinds(setup) == [LEAK]
    for rounds in (3, 10, 400):
        then = loop(_OUTER, [249] * rounds, start=9000)
        (found,) = leaks.judged(setup + then, SITES).growths
        assert (found.kind, found.leaks, found.rounds, found.each) == (ONCE, False, 250, 1056)
        assert found.nbytes == 249 * 1056
        assert kinds(setup + loop(_OUTER, [0] * rounds, start=9000)) == []  # given back
    assert kinds(setup + loop(_ENDS, [249, 249], start=9000)) == [LEAK]


def test_what_replaces_the_objects_of_another_line_is_no_leak() -> None:
    """A table whose values are computed anew, one a round; beside it something may leak."""

    def replaced(leaked: int) -> list[Look]:
        looks = loop(_OUTER, [*range(30)], by=2)
        others = (Counter({(1, 1056): 50 - n, (3, 64): leaked * n}) for n in range(30))
        return [replace(look, gc=look.gc + other) for look, other in zip(looks, others)]

    assert kinds(replaced(0)) == []
    assert Place("main.py", "thread", 3) in [
        g.place for g in leaks.judged(replaced(2), SITES).growths
    ]


def test_what_leaks_in_a_short_loop_after_a_long_setup() -> None:
    setup = loop(_SETUP, [*range(250)], by=1)
    then = loop(_OUTER, [*range(30)], start=9000, by=2)
    found = leaks.judged(setup + then, SITES)
    assert found.rounds == 30 and WORK in [g.place for g in found.growths]


def test_an_inner_loop_is_its_outer_ones_affair() -> None:
    """A list that is filled and dropped in each round is no leak."""
    looks: list[Look] = []
    for i in range(1, 31):
        for k in range(1, 20):
            time = 1000 * i + k
            round_ = 19 * i + k
            looks.append(Look(time, time, Counter({(2, 96): k}), NONE, _INNER, round_, 2))
        looks.append(Look(1000 * i + 500, 1000 * i, Counter({(2, 96): 1}), NONE, _OUTER, i, 1))
    assert [x.key for x in loops.judged(looks, SITES)] == [_OUTER]
    assert kinds(looks) == []


def test_the_loop_of_a_comprehension_is_inside_whatever_its_address() -> None:
    """It has no line of its own, and its bytecode may lie anywhere."""
    looks: list[Look] = []
    for i in range(1, 31):
        for k in range(1, 20):
            at = 1000 * i + k
            kept = Counter({(1, 96): i, (4, 96): k})
            looks.append(Look(at, at, kept, NONE, _ENDS, 19 * i + k, 4))
        looks.append(Look(1000 * i + 500, i, Counter({(1, 96): i}), NONE, _OUTER, i, 1))
    sites = loops.Sites(lambda site: (MAIN,), lambda site: 2 if site == 4 else 1)
    assert [x.key for x in loops.judged(looks, sites)] == [_OUTER]
    (found,) = leaks.judged(looks, sites).growths
    assert (found.each, found.rounds) == (96, 30)


def test_too_few_rounds_blame_nobody() -> None:
    found = leaks.judged(loop(_OUTER, [*range(LEAST - 2)]), SITES)
    assert (found.growths, found.rounds, found.too_few) == ([], LEAST - 2, True)
    found = leaks.judged(loop(_OUTER, [5] * 10), SITES)
    assert (found.growths, found.rounds, found.too_few) == ([], 10, False)


def test_what_the_first_rounds_make_is_no_question_of_more_rounds() -> None:
    """Four rounds of an outer loop were too few where all that its inner one makes was made in
    the first."""
    for counts, few in (
        ([0, 4, 4, 4, 4], False),
        ([0, 4, 5, 5, 5, 5], False),
        ([0, 4, 5, 5], True),
        ([0, 4, 4, 4, 5], True),
        ([0, 0, 0, 0, 1, 1, 1, 1, 1, 1], True),  # it may come each fifth round
    ):
        found = leaks.judged(loop(_OUTER, counts), SITES)
        assert (found.growths, found.too_few) == ([], few), counts


def test_what_is_kept_now_and_then_needs_more_rounds() -> None:
    few = leaks.judged(loop(_OUTER, [*range(LEAST - 2)]), SITES)
    found = leaks.judged(loop(_OUTER, [i // 8 for i in range(20)]), SITES)
    assert (few.enough, found.growths, found.enough) == (growth.ENOUGH, [], 40)
    (found_then,) = leaks.judged(loop(_OUTER, [i // 8 for i in range(40)]), SITES).growths
    assert found_then.verdict.now_and_then
    both = [Counter({(1, 96): i, (3, 64): (i + 5) // 20}) for i in range(60)]
    found = leaks.judged([Look(i, i, c, NONE, _OUTER, i, 1) for i, c in enumerate(both, 1)], SITES)
    assert len(found.growths) == 1 and not found.too_few


def test_rounds_of_a_thread_after_those_of_the_script_are_not_enough() -> None:
    """A thread that goes on for six rounds when the script has ended shows no bound."""
    script = loop(_OUTER, [*range(2, 13)], by=3)
    thread = loop(_INNER, [*range(2, 13)], start=5, by=3, site=3)
    after = replace(thread[-1], time=300, round=16)
    assert leaks.judged([*script, *thread, after], SITES).too_few
    short = loop(_INNER, [5] * 3, by=3, site=3)
    assert not leaks.judged([*short, *loop(_OUTER, [5] * 40, by=3)], SITES).too_few


def test_the_inner_loop_judges_where_the_outer_one_has_few_rounds() -> None:
    """What is kept is of a round of the outer one: that is a round of the program."""
    looks, held = [], 0
    for i in range(1, 4):
        for k in range(1, 40):
            held += 1
            at, round_ = 1000 * i + k, 39 * (i - 1) + k
            looks.append(Look(at, at, Counter({(2, 96): held}), NONE, _INNER, round_, 2))
        looks.append(Look(1000 * i + 500, held, Counter({(2, 96): held}), NONE, _OUTER, i, 1))
    told = leaks.judged(looks, SITES)
    (found,) = told.growths
    assert (found.place, found.each, found.rounds) == (WORK, 39 * 96, 3)
    assert told.rounds == 3 and told.loop and told.loop.key == _OUTER


def inner_and_outer(rounds: int, held: Callable[[int, int], int]) -> list[Look]:
    """Twenty rounds of the inner loop in each of the outer one; what a line holds then, and after
    the last of them."""
    looks = []
    for i in range(1, rounds + 1):
        for k in range(1, 21):
            at, round_ = 1000 * i + k, 20 * (i - 1) + k
            looks.append(Look(at, at, Counter({(2, 96): held(i, k)}), NONE, _INNER, round_, 2))
        looks.append(Look(1000 * i + 500, i, Counter({(2, 96): held(i, 0)}), NONE, _OUTER, i, 1))
    return looks


def test_what_each_round_keeps_is_no_leak_of_a_loop_that_runs_anew_in_it() -> None:
    """Twenty rounds of the inner one in each of eight: too few of these to judge."""
    found = leaks.judged(inner_and_outer(8, lambda i, k: i), SITES)
    assert (found.growths, found.rounds, found.too_few) == ([], 8, True)


def test_a_list_that_is_filled_and_dropped_in_each_of_few_rounds_is_no_leak() -> None:
    assert leaks.judged(inner_and_outer(8, lambda i, k: k), SITES).growths == []


def test_what_one_of_few_rounds_makes_in_a_loop_is_no_leak() -> None:
    looks = inner_and_outer(10, lambda i, k: k if i == 6 else 20 if i > 6 else 0)
    looks = [x for x in looks if x.loop == _OUTER or 6000 < x.time < 7000]
    found = leaks.judged(looks, SITES)
    assert (found.growths, found.too_few) == ([], True)


def test_what_the_loop_inside_the_first_round_keeps_leaks() -> None:
    """Nothing else was seen of the outer one."""
    (found,) = leaks.judged(inner_and_outer(2, lambda i, k: 20 * i + k)[:-2], SITES).growths
    assert found.each == 96


def _kept_in_a_list(entries: Callable[[int], int]) -> list[Look]:
    """An object each third round; another line's list had so many entries after it: larger than a
    block from the fifth on."""
    return [
        replace(
            k,
            gc=k.gc + Counter({(2, 64 if entries(k.round) > 4 else 32): 1}),
            filled={(2, 64): 8 * entries(k.round) - 4} if entries(k.round) > 4 else {},
        )
        for k in loop(_OUTER, [i // 3 for i in range(3, 22)])
    ]


def test_the_list_of_what_leaks_is_a_leak_before_its_table_has_doubled_often() -> None:
    found = {
        g.place: g for g in leaks.judged(_kept_in_a_list(lambda n: (n + 2) // 3), SITES).growths
    }
    assert round(found[MAIN].verdict.rate) == 352 and found[WORK].kind == LEAK
    assert abs(found[WORK].verdict.rate - 8 / 3) < 0.05 and not found[WORK].verdict.now_and_then
    full = leaks.judged(_kept_in_a_list(lambda n: min(n, 6)), SITES).growths
    assert [g.place for g in full] == [MAIN]


def test_a_callback_counts_its_own_times() -> None:
    (found,) = leaks.judged(loop(_OUTER, [i // 8 for i in range(160)]), SITES).growths
    assert found.verdict.now_and_then and abs(found.each - 1056) < 60


def test_the_firmwares_own_loss_is_told_once() -> None:
    looks = [
        Look(10 * i, i, Counter({(1, 128): i // 8}), Counter({(1, 7376): i // 8}), _OUTER, i, 1)
        for i in range(1, 60)
    ]
    (found,) = leaks.judged(looks, SITES, lambda place: 7).growths
    assert (found.kind, found.heap, found.times, found.gc_too) == (FIRMWARE, "heap", 7, 7 * 128)


def test_five_loads_of_the_system_heap_are_enough() -> None:
    looks = [Look(i, i, NONE, Counter({(1, 400000): i}), _OUTER, i, 1) for i in range(1, 5)]
    assert kinds(looks) == [LEAK]


def calls_in_one_another(line: Callable[[int], Place]) -> tuple[list[Look], loops.Sites]:
    """Each makes an object of 96 bytes, at that line, and calls the next."""
    chains = {i: (MAIN, *map(line, range(1, i + 1))) for i in range(1, 40)}
    looks = [
        Look(i, 3 * i, Counter({(k, 96): 1 for k in range(1, i)}), NONE, 0, i, i)
        for i in range(5, 36, 5)
    ]
    return looks, loops.Sites(chains.__getitem__, lambda site: len(chains[site]))


def test_recursion_that_deepens() -> None:
    looks, sites = calls_in_one_another(lambda i: WORK)
    (found,) = leaks.judged(looks, sites).growths
    assert (found.kind, found.place, found.each) == (RECURSION, WORK, 96)
    up_and_down = [looks[3], looks[1], *looks]
    assert leaks.judged(up_and_down, sites).growths == []


def test_functions_that_call_each_other_keep_so_much_with_a_call_of_their_own() -> None:
    """Two calls of the first for one of the second."""
    other = Place("main.py", "other", 9)
    looks, sites = calls_in_one_another(lambda i: WORK if i % 3 else other)
    found = leaks.judged(looks, sites).growths
    assert sorted((g.place.line, g.each) for g in found) == [(7, 96), (9, 96)]


def test_an_object_that_lines_make_larger_in_turn() -> None:
    """A bytearray that three lines append to is of the one that had no room in it."""
    looks = [
        Look(9 * i, i, Counter({(1 + i // 5 % 2, 64 + 32 * i): 1}), NONE, _OUTER, i, 1)
        for i in range(1, 31)
    ]
    assert kinds(looks) == []
    (found,) = leaks.judged(looks, SITES, taken_over={(1, 2), (2, 1)}).growths
    assert (found.kind, found.each, found.place) == (LEAK, 32, MAIN)
    beside = [
        replace(
            k,
            gc=k.gc + Counter({(1, 96): 1, (2, 96): 1, (1, 1056): min(k.round, 9)}),
            heap=Counter({(1, 500): k.round}),
        )
        for k in looks
    ]
    found = leaks.judged(beside, SITES, taken_over={(1, 2), (2, 1)}).growths
    assert [(g.heap, g.kind, g.place) for g in found if g.leaks] == [
        ("heap", LEAK, found[0].place),
        ("gc", LEAK, MAIN),
    ]
    assert len({g.place for g in found if g.heap == "gc"}) == 1  # once
    two = [replace(k, gc=Counter({(1, 96): k.round, (2, 96): 9})) for k in looks]
    (found,) = leaks.judged(two, SITES, taken_over={(1, 2)}).growths
    assert (found.each, found.place) == (96, MAIN)  # alone


def test_until_when_one_line_grew() -> None:
    looks = [
        replace(k, gc=k.gc + Counter({(2, 96): 2 * k.round, (0, 32): k.round}))
        for k in loop(_OUTER, [min(i, 9) for i in range(40)])
    ]
    (judge,) = loops.judged(looks, SITES)
    assert leaks.grew_until(looks, SITES.chain, judge, MAIN) == 10
    assert leaks.grew_until(looks, SITES.chain, judge, WORK) == 40
    assert leaks.grew_until(looks, SITES.chain, judge, Place("main.py", "thread", 3)) == 0


def test_no_looks() -> None:
    assert leaks.judged([], SITES) == leaks.Judged([])
