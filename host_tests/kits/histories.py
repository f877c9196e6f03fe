# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Made-up histories for the judge of growth: what a line may hold in each round, with a leak or
without.

    python host_tests/kits/histories.py [--each 40] [--rounds 20 30 60 120 200]

Each kind is one of the two lists below; with a fifth each a number of objects of the same or of
another size comes and goes beside it by chance, and of long runs some rounds have no look, as on a
board. Printed: of each kind how often which verdict was given.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Callable

import paths

sys.path[:0] = [str(p) for p in (paths.TOOLS, paths.LIB, paths.SHIMS)]
from maixmem_cli.profiler import growth  # noqa: E402
from maixmem_cli.profiler.growth import Filled, Held  # noqa: E402

BLOCK = 32
ROUNDS = (20, 30, 60, 120, 200)
_LOOKS = 40  # of a long loop, about
_SEEN = 2  # steps up: a leak with fewer cannot be seen
_SIZES = (1, 1, 1, 2, 3, 8, 33)  # blocks of an object
Text = tuple[list[Held], list[Filled]]
Kind = Callable[[int, random.Random], "list[Held] | Text"]


@dataclass(frozen=True)
class History:
    """What is held at some rounds; `steps`: looks at which more is kept for good."""

    rounds: Sequence[int]
    held: Sequence[Held]
    filled: Sequence[Filled]

    @property
    def steps(self) -> int:
        low = growth.lowest([sum(s * n for s, n in h.items()) for h in self.held])
        return sum(b > a for a, b in zip(low[1:], low[2:]))

    @property
    def verdict(self) -> str:
        return growth.judge(self.rounds, self.held, self.filled).kind


def table(entries: int) -> int:
    """Bytes of a list's items: its table becomes twice as large when it is full."""
    room = 4
    while room < entries:
        room *= 2
    return 8 * room


def _objects(counts: Iterable[int], chance: random.Random) -> list[Held]:
    """So many in each round, beside some from before; half of them in a list of the same line."""
    size, before = BLOCK * chance.choice(_SIZES), chance.choice((0, 0, 0, 1, 3))
    listed = chance.random() < 0.5
    out: list[Held] = []
    for n in counts:
        held = Counter({size: n + before} if n + before else {})
        held.update({table(n): 1} if listed and n else {})
        out.append(held)
    return out


def _text(lengths: Iterable[int]) -> Text:
    """One of so many characters in each round."""
    sizes = [(n, -(-(n + 1) // BLOCK) * BLOCK) for n in lengths]
    return [{s: 1} if n else {} for n, s in sizes], [{s: n} if n else {} for n, s in sizes]


def _at(times: Iterable[float], rounds: int) -> list[int]:
    """How many of these times have passed in each round."""
    times = [*times]
    return [sum(t <= n for t in times) for n in range(1, rounds + 1)]


# --- no leak ---


def made_once(rounds: int, chance: random.Random) -> list[Held]:
    n, first = chance.randint(1, 40), chance.randint(1, 3)
    return _objects((n * (i >= first) for i in range(1, rounds + 1)), chance)


def a_window(rounds: int, chance: random.Random) -> list[Held]:
    most = chance.randint(1, int(0.6 * rounds))
    return _objects((min(i, most) for i in range(1, rounds + 1)), chance)


def a_slow_window(rounds: int, chance: random.Random) -> list[Held]:
    every = chance.randint(2, max(3, rounds // 5))
    most = chance.randint(1, max(1, int(0.45 * rounds / every)))
    return _objects((min(i // every, most) for i in range(1, rounds + 1)), chance)


def _met(rounds: int, chance: random.Random, weights: Sequence[float]) -> list[Held]:
    met = chance.choices(range(len(weights)), weights, k=rounds)
    return _objects((len({*met[: i + 1]}) for i in range(rounds)), chance)


def a_cache(rounds: int, chance: random.Random) -> list[Held]:
    return _met(rounds, chance, [1] * chance.randint(2, 20))


def a_cache_of_rare_ones(rounds: int, chance: random.Random) -> list[Held]:
    return _met(rounds, chance, [1 / k for k in range(1, chance.randint(3, 9))])


def comes_and_goes(rounds: int, chance: random.Random) -> list[Held]:
    most = chance.randint(1, 30)
    return _objects((chance.randint(0, most) for _ in range(rounds)), chance)


def lives_for_a_while(rounds: int, chance: random.Random) -> list[Held]:
    most, often = chance.randint(2, 25), chance.choice((1, 0.5, 0.2))
    ends = [i + chance.randrange(1, most) for i in range(rounds) if chance.random() < often]
    begins = sorted(chance.sample(range(rounds), len(ends)))
    lives = [*zip(begins, ends)]
    return _objects((sum(a <= i < b for a, b in lives) for i in range(rounds)), chance)


def a_queue(rounds: int, chance: random.Random) -> list[Held]:
    sizes = [chance.randint(2, max(3, rounds // 3)) for _ in range(chance.choice((1, 3)))]
    counts = [n for k in range(rounds) for n in range(sizes[k % len(sizes)])]
    return _objects(counts[1 : rounds + 1], chance)


def a_number_as_text(rounds: int, chance: random.Random) -> Text:
    before = chance.choice((20, 28, 29, 30, 31))
    return _text(before + len(str(i)) for i in range(rounds))


def old_copies(rounds: int, chance: random.Random) -> list[Held]:
    """That a word on the stack keeps, a few at most; each may go again."""
    most, comes = chance.randint(1, 3), chance.choice((0.02, 0.05, 0.1, 0.3))
    goes, size, n = chance.choice((0, 0.01, 0.05)), chance.choice((32, 64, 96)), 0
    out: list[Held] = []
    for _ in range(rounds):
        if n < most and chance.random() < comes:
            n += 1
        elif n and chance.random() < goes:
            n -= 1
        out.append({size: n + 1})
    return out


def a_text_now_and_then(rounds: int, chance: random.Random) -> Text:
    every, most = chance.randint(1, rounds // 3), chance.choice((60, 90, 400))
    lengths = [chance.randint(20, most) for _ in range(rounds)]
    return _text(lengths[i // every] for i in range(rounds))


def the_longest_text(rounds: int, chance: random.Random) -> Text:
    most = chance.choice((60, 200, 1000))
    lengths = [chance.randint(1, most) for _ in range(rounds)]
    return _text(max(lengths[: i + 1]) for i in range(rounds))


def a_wave(rounds: int, chance: random.Random) -> list[Held]:
    period = chance.randint(4, rounds // 2)
    return _objects((abs(i % period - period // 2) for i in range(rounds)), chance)


def first_wanted(rounds: int, chance: random.Random) -> list[Held]:
    times = [chance.randint(1, rounds // 2) for _ in range(chance.randint(2, 3))]
    return _objects(_at(times, rounds), chance)


def a_list_that_is_full(rounds: int, chance: random.Random) -> list[Held]:
    most = chance.randint(4, rounds // 2)
    return [{table(min(i, most)): 1} for i in range(1, rounds + 1)]


def slower_and_slower(rounds: int, chance: random.Random) -> list[Held]:
    most, stays = chance.randint(5, 40), 1 - chance.choice((4, 6, 8)) / rounds
    return _objects((int(most * (1 - stays**i)) for i in range(rounds)), chance)


# --- a leak ---


def each_round(rounds: int, chance: random.Random) -> list[Held]:
    return _objects(range(1, rounds + 1), chance)


def each_few_rounds(rounds: int, chance: random.Random) -> list[Held]:
    every = chance.randint(2, rounds // 3)
    first = chance.randint(0, every - 1)
    return _objects(((i + first) // every for i in range(1, rounds + 1)), chance)


def _pauses(rounds: int, pause: Callable[[], float]) -> list[int]:
    return _at([*_up_to(rounds, pause)], rounds)


def _up_to(rounds: int, pause: Callable[[], float]) -> Iterator[float]:
    at = pause()
    while at <= rounds:
        yield at
        at += pause()


def uneven_pauses(rounds: int, chance: random.Random) -> list[Held]:
    every = chance.randint(3, rounds // 3)
    return _objects(_pauses(rounds, lambda: every * chance.uniform(0.75, 1.25)), chance)


def a_retry(rounds: int, chance: random.Random) -> list[Held]:
    every = chance.randint(2, rounds // 3)
    return _objects(_pauses(rounds, lambda: 1 + chance.expovariate(1 / every)), chance)


def a_timer(rounds: int, chance: random.Random) -> list[Held]:
    """Beside rounds, each of which takes another time."""
    every, first = chance.uniform(2, rounds / 3), chance.random()
    times = [*_up_to(rounds, lambda: chance.uniform(0.6, 1.4))][:rounds]
    times += [float(rounds)] * (rounds - len(times))
    return _objects((int(t / every + first) for t in times), chance)


def some_each_time(rounds: int, chance: random.Random) -> list[Held]:
    every, n, counts = chance.randint(3, rounds // 4), 0, []
    for i in range(rounds):
        n += chance.randint(1, 4) if i % every == every // 2 else 0
        counts.append(n)
    return _objects(counts, chance)


def of_any_size(rounds: int, chance: random.Random) -> list[Held]:
    every = chance.randint(1, rounds // 4)
    held: Counter[int] = Counter()
    out: list[Held] = []
    for i in range(rounds):
        held.update({BLOCK * chance.randint(1, 6): 1} if i % every == every // 2 else {})
        out.append(Counter(held))
    return out


def a_text(rounds: int, chance: random.Random) -> Text:
    more, every = chance.randint(10, 80), chance.randint(1, rounds // 5)
    return _text(30 + more * (i // every) for i in range(1, rounds + 1))


def a_buffer(rounds: int, chance: random.Random) -> Text:
    more = chance.randint(BLOCK, 3000)
    return _text(more * i for i in range(1, rounds + 1))


def small_numbers(rounds: int, chance: random.Random) -> list[Held]:
    return [{table(i): 1, BLOCK: chance.choice((1, 2))} for i in range(1, rounds + 1)]


def after_what_is_made_once(rounds: int, chance: random.Random) -> list[Held]:
    before, every = chance.randint(3, 60), chance.choice((1, 1, 2, 4))
    return _objects((before + i // every for i in range(1, rounds + 1)), chance)


def late(rounds: int, chance: random.Random) -> list[Held]:
    since = chance.randint(2, rounds // 2)
    return _objects((max(0, i - since) for i in range(1, rounds + 1)), chance)


def beside_a_queue(rounds: int, chance: random.Random) -> list[Held]:
    most = chance.randint(3, max(4, rounds // 4))
    return _objects((i + i % most for i in range(1, rounds + 1)), chance)


INNOCENT: tuple[Kind, ...] = (
    made_once,
    a_window,
    a_slow_window,
    a_cache,
    a_cache_of_rare_ones,
    comes_and_goes,
    lives_for_a_while,
    a_queue,
    a_number_as_text,
    old_copies,
    a_text_now_and_then,
    the_longest_text,
    a_wave,
    first_wanted,
    a_list_that_is_full,
    slower_and_slower,
)
LEAKS: tuple[Kind, ...] = (
    each_round,
    each_few_rounds,
    uneven_pauses,
    a_retry,
    a_timer,
    some_each_time,
    of_any_size,
    a_text,
    a_buffer,
    small_numbers,
    after_what_is_made_once,
    late,
    beside_a_queue,
)


def histories(kind: Kind, rounds: int, number: int, *, beside: bool = True) -> Iterator[History]:
    """So many of a kind, the same ones each time. `beside`: with what comes and goes."""
    for k in range(number):
        chance = random.Random(f"{kind.__name__} {rounds} {k}")
        made = kind(rounds, chance)
        held, filled = made if isinstance(made, tuple) else (made, [])
        if beside and not filled:
            held = _with_others(held, chance)
        looks = _looks(rounds, chance)
        of = [filled[n - 1] for n in looks] if filled else []
        yield History(looks, [held[n - 1] for n in looks], of)


def _with_others(held: list[Held], chance: random.Random) -> list[Held]:
    which = chance.choice(("none", "none", "none", "same", "other"))
    size = max(held[-1], default=BLOCK) if which == "same" else 3 * BLOCK
    most = 0 if which == "none" else chance.choice((1, 2, 4))
    return [+(Counter(h) + Counter({size: chance.randint(0, most)})) for h in held]


def _looks(rounds: int, chance: random.Random) -> list[int]:
    if rounds <= _LOOKS or chance.random() < 0.5:
        return [*range(1, rounds + 1)]
    part = (rounds - 1) / (_LOOKS - 1)
    return [1, *{int((n - 1) / part): n for n in range(2, rounds + 1)}.values()]


def told(kind: Kind, lengths: Iterable[int], number: int, *, beside: bool = True) -> Counter[str]:
    """How often which verdict was given; of a leak that is to be seen."""
    all_of = (h for rounds in lengths for h in histories(kind, rounds, number, beside=beside))
    return Counter(h.verdict for h in all_of if kind in INNOCENT or h.steps >= _SEEN)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=40, help="histories of a kind and a length")
    parser.add_argument("--rounds", type=int, nargs="+", default=ROUNDS)
    given = parser.parse_args()
    for title, kinds in (("no leak", INNOCENT), ("a leak", LEAKS)):
        together: Counter[str] = Counter()
        for kind in kinds:
            found = told(kind, given.rounds, given.each)
            together += found
            print(f"{title:8} {kind.__name__:24} {dict(found)}")
        print(f"{title:8} {'all':24} {dict(together)}")


if __name__ == "__main__":
    main()
