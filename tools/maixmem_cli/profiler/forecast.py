# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""When leaks end a program: the last rounds that were seen are repeated in a model of
the GC heap, each leaving what leaks, until something gets no room.

Bytes alone do not tell it: a table that doubles, a string that is allocated anew, need one piece,
and what is kept lies scattered. Source: gc_alloc(), gc_realloc(), gc_free() in py/gc.c of
MicroPython 1.11.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from maixmem_cli.heap.heaps import BLOCK
from maixmem_cli.profiler import hash_tables
from maixmem_cli.profiler.growth import LISTS

_MOST_STEPS = 400_000  # allocations that are made again
_ENOUGH_STEPS = 60_000  # after so many no other beginning is tried
_FAR = 2_000  # rounds; what ends after more grows by several rounds at once
_NEARLY = 0.9  # of a round: then one has passed since
#: of the blocks those that are taken first, and of the rounds those that are left out at first:
#: a line more in the script changes as much
_BEGINNINGS = ((0.0, 0.0), (0.0005, 0.33), (0.002, 0.67), (0.004, 0.5), (0.006, 0.0))
_A_BYTE = 4  # blocks whose states share a byte: where the next search begins is kept so


class Heap:
    """Blocks, taken and given as the firmware does."""

    def __init__(self, used: bytearray) -> None:
        """`used`: 1 for each block that is, else 0."""
        self.used = used
        self._from = 0

    def take(self, n: int) -> int | None:
        """The first of n free blocks in one piece, or None: then a collection is due."""
        at = self.used.find(bytes(n), self._from)
        if at < 0:
            return None
        self.used[at : at + n] = b"\1" * n
        if n == 1:
            self._from = (at + 1) // _A_BYTE * _A_BYTE
        return at

    def give(self, at: int, n: int) -> None:
        self.used[at : at + n] = bytes(n)
        self._from = min(self._from, at // _A_BYTE * _A_BYTE)

    def swept(self) -> None:
        """The next search begins at the beginning."""
        self._from = 0

    def grow(self, at: int, n: int, more: int) -> bool:
        """Whether the n blocks at a place could become more where they are."""
        if self.used[at + n : at + n + more] != bytes(more):
            return False
        self.used[at + n : at + n + more] = b"\1" * more
        return True


@dataclass(frozen=True)
class Made:
    """An object of the rounds that were seen: of so many blocks, and what becomes of it. `kept`:
    it leaks; `given`: after how many more steps the program itself gives it back; neither:
    garbage when its round is over. `of`: it is none, that of so many steps before becomes larger
    here; `later`: it is to become larger. `one`: it is none, the growing object of this number
    grows here, if it does in this round."""

    blocks: int
    kept: bool = False
    given: int | None = None
    of: int = 0
    later: bool = False
    one: int | None = None


@dataclass
class One:
    """An object that grows. `rate`: bytes a round; `size`: bytes now; `at`: its first block, None
    where it was not found. It becomes larger where it lies, if it can. `moves`: it is allocated
    anew each round, and the old one is garbage; `table`: it becomes so many times as large when it
    is full, and `full` bytes of it are; `anew`: the table of a dict or a set, of entries of so
    many bytes `entry`, never where it lies. `passes`: it is allocated anew each round, and garbage
    before that."""

    rate: float
    size: float
    at: int | None
    moves: bool = False
    table: float = 0.0
    full: float = 0.0
    passes: bool = False
    entry: int = 0

    @property
    def anew(self) -> bool:
        return 0 < self.table < LISTS

    @property
    def blocks(self) -> int:
        return -(-int(self.size) // BLOCK)


class _Full(Exception):
    """Nothing of so many blocks is free, after a collection."""


def rounds_left(
    used: bytearray,
    garbage: Sequence[tuple[int, int]],
    made: Sequence[Made],
    rounds: int,
    ones: Sequence[One],
) -> tuple[int, int] | None:
    """How many more rounds there are, at least and at most. `used`: 1 for each block that is
    taken, `garbage`: which of them a collection gives back, (first, how many); `made`: by the last
    `rounds` rounds, in order. None: more than can be tried.

    Where one object grows by its bytes, what lies in its way is chance: other beginnings are tried
    too. What is kept between its copies leaves holes that are too small for it: it may be the
    first collection that finds no room. Chance is also which holes are left where a piece that
    passes gets no room though most is free."""
    chance = any(one.passes or not one.table for one in ones)
    scattered = chance and any(m.kept for m in made)
    passing = {m.blocks for m in made if not m.kept}
    at_once = _at_once(used, made, ones)
    found: list[int] = []
    steps = 0
    for taken, part in _BEGINNINGS:
        k = int(part * len(made))
        again = [replace(one, rate=at_once * one.rate) for one in ones]
        run = _Run(Heap(used[:]), [*made[k:], *made[:k]], rounds, again, within=k > 0)
        run.garbage += [(-(1 << 30), at, n) for at, n in garbage]
        last = run.to_its_end(int(taken * len(used)))
        if last is None or (scattered and last and run.first_collected is None):
            return None
        found += [last, run.first_collected or 0] if scattered and last else [last]
        steps += run.steps
        chance = chance or (run.lacked in passing and 2 * run.free > len(used))
        if steps > _ENOUGH_STEPS or not chance:
            break
    return min(found) * at_once, max(found) * at_once


def _at_once(used: bytearray, made: Sequence[Made], ones: Sequence[One]) -> int:
    """Rounds that are taken as one: several where the end is far away, and each round makes anew
    what grows. Where it grows in place, what a round puts in its way decides."""
    rate = sum(one.rate for one in ones)
    anew = all(one.moves and not one.table for one in ones)
    if not rate or not anew or any(m.kept for m in made):
        return 1
    return max(1, int(used.count(0) * BLOCK / rate / _FAR))


class _Run:
    def __init__(
        self,
        heap: Heap,
        made: Sequence[Made],
        rounds: int,
        ones: list[One],
        *,
        within: bool,
    ) -> None:
        """`within`: it begins within a round, with less than that adds to what grows."""
        self._heap, self._made, self._ones = heap, made, ones
        self._each = max(1, len(made) // rounds)  # objects of a round
        self._of, self._rounds = rounds, rounds / len(made)
        self.garbage: list[tuple[int, int, int]] = []  # step, block, blocks
        self._due: dict[int, list[tuple[int, int]]] = {}  # step -> what is given back then
        self._later: dict[int, tuple[int, int]] = {}  # step -> what is to become larger
        self._step = self._round = 0
        self.first_collected: int | None = None  #: the round of it
        self.lacked = 0  #: blocks of what got no room
        # rounds until each grew last; the first time may be early in its round
        self._grown = {k: 0.0 for k in range(len(ones)) if within}
        times = Counter(m.one for m in made)
        # a table gets an entry in each round, also where it becomes larger in few of them
        each = {k: rounds if one.table else 1 for k, one in enumerate(ones)}
        self._anywhere = [k for k, n in each.items() if times[k] < n]

    def to_its_end(self, blocks: int) -> int | None:
        """Rounds, with so many blocks taken first."""
        try:
            for _ in range(blocks):
                self._take(1)
            for i in range(_MOST_STEPS):
                self.step(i)
        except _Full as full:
            (self.lacked,) = full.args
            return self._now
        return None

    @property
    def free(self) -> int:
        """Blocks."""
        return self._heap.used.count(0)

    @property
    def steps(self) -> int:
        """That were done."""
        return self._step

    @property
    def _now(self) -> int:
        """The round."""
        return self._step * self._of // len(self._made)

    def step(self, i: int) -> None:
        self._step = i
        for at, n in self._due.pop(i, ()):
            self._heap.give(at, n)
        made = self._made[i % len(self._made)]
        if made.one is not None:
            if made.one not in self._anywhere:
                self._grows(made.one)
            return
        if int(i * self._rounds) > self._round:
            self._round += 1
            for number in self._anywhere:
                self._grows(number)
        at = self._made_larger(i - made.of, made.blocks) if made.of else self._take(made.blocks)
        if made.later:
            self._later[i] = at, made.blocks
        elif made.given is not None:
            self._due.setdefault(i + made.given + 1, []).append((at, made.blocks))
        elif not made.kept:
            self.garbage.append((i, at, made.blocks))

    def _made_larger(self, step: int, blocks: int) -> int:
        """The object of that step, or an older one, becomes so many blocks."""
        at, before = self._later.pop(step, (0, 0))
        if before and self._heap.grow(at, before, blocks - before):
            return at
        new = self._take(blocks)
        self._heap.give(at, before)
        return new

    def _grows(self, number: int) -> None:
        """What the rounds since the last time did to it."""
        one, now = self._ones[number], self._step * self._rounds
        since = now - self._grown[number] if number in self._grown else max(1.0, now)
        if since < _NEARLY:
            return
        self._grown[number] = now
        one.full += one.rate * since
        if not one.table:
            self._larger(one, one.size + one.rate * since)
        elif one.full > one.size:
            self._larger(one, self._next(one))
        if one.passes:
            at = self._table(one.blocks) if one.table else self._take(one.blocks)
            self.garbage.append((self._step, at, one.blocks))

    @staticmethod
    def _next(one: One) -> float:
        """Bytes of the larger table."""
        if one.anew:
            return hash_tables.larger(one.blocks * BLOCK, one.entry or hash_tables.OF_DICT)
        return one.size * one.table

    def _larger(self, one: One, size: float) -> None:
        before, one.size = one.blocks, size
        more = one.blocks - before
        if one.passes or (more <= 0 and not one.moves):
            return
        here = None if one.moves or one.anew else one.at
        if here is not None and self._heap.grow(here, before, more):
            return
        at = self._take(one.blocks)
        if one.moves and one.at is not None:
            self.garbage.append((self._step - self._each, one.at, before))
        elif one.at is not None:
            self._heap.give(one.at, before)
        one.at = at

    def _table(self, n: int) -> int:
        """One that has just become twice as large."""
        half = self._take(n // 2)
        if self._heap.grow(half, n // 2, n - n // 2):
            return half
        at = self._take(n)
        self._heap.give(half, n // 2)
        return at

    def _take(self, n: int) -> int:
        at = self._heap.take(n)
        if at is None:
            self._collect()
            at = self._heap.take(n)
        if at is None:
            raise _Full(n)
        return at

    def _collect(self) -> None:
        """Objects of this round are taken for ones in use."""
        if self.first_collected is None:
            self.first_collected = self._now
        since = self._step - self._each
        for step, at, n in self.garbage:
            if step <= since:
                self._heap.give(at, n)
        self.garbage = [g for g in self.garbage if g[0] > since]
        self._heap.swept()
