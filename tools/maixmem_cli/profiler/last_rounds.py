# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the last rounds of a program made of the GC heap, read from its events: the forecast's
beginning."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, count, takewhile
from math import ceil
from typing import Callable

from maixmem_cli.emulator.readers import tracer
from maixmem_cli.emulator.readers.tracer import Event, Place
from maixmem_cli.heap import heaps
from maixmem_cli.heap.heaps import BLOCK
from maixmem_cli.profiler import forecast, growth
from maixmem_cli.profiler.forecast import Made, One
from maixmem_cli.profiler.growth import ITEM
from maixmem_cli.profiler.leaks import Growth
from maixmem_cli.profiler.ledger import Fullest, Look

_OBJECT = re.compile(b"\x01\x02*")  # HEAD, then TAIL
_ROUNDS = 8  # that are made again, at least
_MOST_ROUNDS = 20  # or half of those that were looked at
_SWEEP = 3  # pieces that are freed one after the other: more, and a collector does it
_LEAST_TABLE = 32  # bytes of a list's first one
_LEAST_LARGER = 2  # blocks
_NEAR = 0.1  # of a rate
_FEW = 3  # amounts that a round leaves: fewer are those of each round, or of each few
_LARGE = 0.4  # of a growing object: an object of its line that large is it


@dataclass
class _Born:
    """An object of the rounds, and its blocks at last; `first`: at first. `given`: how many others
    began before the program itself gave it back. `half`: the number of one half as large that was
    given back when it began; `grows`: that one is older than the rounds."""

    at: int
    blocks: int
    place: Place
    first: int
    given: int | None = None
    half: int | None = None
    grows: bool = False


@dataclass(frozen=True)
class _Freed:
    """Of one event: at which blocks a piece begins or ends that was freed later, and 1 for each of
    its blocks that was."""

    cuts: list[int]
    blocks: bytes


@dataclass
class _Rounds:
    """What the rounds did, in order. `given`: (how many objects had begun, blocks of one that the
    program gave back then); `larger`: (how many objects had begun, number of the one that grew,
    blocks from then on)."""

    born: list[_Born] = field(default_factory=list)
    given: list[tuple[int, int]] = field(default_factory=list)
    larger: list[tuple[int, int, int]] = field(default_factory=list)


def rounds_left(
    leaks: Sequence[Growth],
    looks: Sequence[Look],
    fullest: Fullest,
    events: Iterable[Event],
    place_of: Callable[[int], Place],
) -> tuple[int, int] | None:
    """After how many more rounds, at least and at most, the leaks of the GC heap end the program,
    the one in which they do counted; None: unknown.
    `looks`: at the loop that is judged."""
    upto = [k for k in looks if k.time <= fullest.time]
    last = upto[-1] if upto else None
    if not last:
        return None
    many = {g.place for g in leaks if g.verdict.rate > g.verdict.one}
    half = min(_MOST_ROUNDS, (last.round - upto[0].round) // 2)
    again = max(_ROUNDS, half) if many else _ROUNDS
    first = next((k for k in reversed(upto) if k.round <= last.round - again), None)
    if not first:
        return None
    objects = _in_use(fullest)
    loop = [e for e in events if upto[0].time < e.time <= fullest.time]
    seen = [e for e in loop if e.time > first.time]
    passed = _rounds([e for e in seen if e.time <= last.time], place_of, objects)
    ones = _ones(leaks, [*objects.items()], fullest, place_of, (first, last))
    ones = {**_larger_each_round(loop, upto, place_of, many), **ones}
    rounds = last.round - first.round
    made = _made(passed, ones, many, objects)
    unto_now = _rounds(seen, place_of, objects).born
    passing = _passing(unto_now, many, objects) - {one.at for one in ones.values()}
    used = bytearray(owner is not None for owner in fullest.owners)
    dead = used[:]
    for at, n in objects.items():
        dead[at : at + n] = bytes([at in passing]) * n
    garbage = [(m.start(), m.end() - m.start()) for m in re.finditer(b"\1+", dead)]
    left = forecast.rounds_left(used, garbage, made, rounds, [*ones.values()]) if made else None
    since = rounds * (len(unto_now) / max(1, len(passed.born)) - 1)  # the last look, by objects
    behind = looks[-1].round - last.round - round(since)
    if not left:
        return None
    began = max((g.verdict.since for g in leaks if g.place in many), default=0)
    faster = _faster([k for k in upto if k.round >= began], first, many, place_of)
    least, most = left[0] * min(1.0, faster), left[1] * max(1.0, faster)
    return max(0, int(least) + 1 - behind), max(0, ceil(most) + 1 - behind)


def _faster(
    looks: Sequence[Look], first: Look, many: Collection[Place], place_of: Callable[[int], Place]
) -> float:
    """How many times as much the last rounds, since `first`, leave as all of them do: rows whose
    size changes by the round may stay as large as lately, or be as on the whole. 1.0: as much, or
    one as much as the other."""
    earlier = sum(k.round < first.round for k in looks)
    held = [sum((_of_line(k, place, place_of) for place in many), Counter()) for k in looks]
    left, _ = growth.parts(held) if earlier else ([], [])

    def slope(a: int, b: int) -> float:
        return (left[b] - left[a]) / (looks[b].round - looks[a].round)

    if not left or len({slope(k - 1, k) for k in range(earlier + 1, len(left))}) < _FEW:
        return 1.0
    lately, whole = slope(earlier, -1), slope(0, -1)
    near = abs(lately - whole) <= _NEAR * max(lately, whole)
    return 1.0 if near or min(lately, whole) <= 0 else lately / whole


def _in_use(fullest: Fullest) -> dict[int, int]:
    """{first block: how many} of each object."""
    states = heaps.states(fullest.used)
    return {m.start(): m.end() - m.start() for m in _OBJECT.finditer(states)}


def _made(
    rounds: _Rounds,
    ones: dict[Place, One],
    many: Collection[Place],
    objects: Mapping[int, int],
) -> list[Made]:
    """What the model allocates again. Of what grows it is found out whether it is so anew."""
    born, out = rounds.born, _Steps(rounds)
    numbers = {place: k for k, place in enumerate(ones)}
    last = _last_there(born)
    alike = Counter((b.place, b.first) for b in born)
    for number, (b, after) in enumerate(zip(born, [*born[1:], None])):
        out.up_to(number)
        one = ones.get(b.place)
        sizes = _sizes(one) if one and (one.passes or not one.table) else range(0)
        if one and sizes and (b.grows or b.blocks in sizes):
            anew = not b.grows and b.half is None and b.first == b.blocks
            freed = any(at == number + 1 and n in sizes for at, n in rounds.given)
            one.moves = one.moves or (anew and not freed)
        elif not b.grows and not (one and one.table and _was(one, b, alike[b.place, b.first])):
            out.add(number, b.place in many and _stays(b, last, objects))
        elif b.grows and not one and b.place in many and objects.get(b.at) == b.blocks:
            out.add(number, True)  # for another one, which is not yet as large
        if one and (after is None or after.place != b.place):
            out.grows(numbers[b.place])  # a table grows when its item is made
    return out.made()


def _sizes(one: One) -> range:
    """Blocks that it had in these rounds: its line may make what is larger, or small, as well."""
    return range(ceil(_LARGE * one.size / BLOCK), one.blocks + 1)


class _Steps:
    """The rounds as steps of the model, in which an object becomes larger step by step."""

    def __init__(self, rounds: _Rounds) -> None:
        self._born, self._larger = rounds.born, [*reversed(rounds.larger)]
        self._halves = {b.half for b in rounds.born}
        self._made: list[Made] = []
        self._begins: list[int] = []  # of each object that was made
        self._last: dict[int, int] = {}  # object -> its last step
        self._kept: set[int] = set()
        self._table: list[Made] = []  # that grows, when its item is all there

    def up_to(self, number: int) -> None:
        """Until an object begins."""
        while self._larger and self._larger[-1][0] <= number:
            _, of, blocks = self._larger.pop()
            if of in self._last:
                self._becomes(of, of, blocks)
        self._made += self._table
        self._table = []
        self._begins.append(len(self._made))

    def add(self, number: int, kept: bool) -> None:
        b = self._born[number]
        if b.half in self._last and (b.given is None or number in self._halves):
            self._becomes(b.half, number, b.first)
        else:  # or the table of a dict, which is allocated anew
            self._last[number] = len(self._made)
            self._made.append(Made(b.first))
        if kept:
            self._kept.add(number)

    def _becomes(self, number: int, other: int, blocks: int) -> None:
        """An object becomes so large, and has another number from now on."""
        before, self._last[other] = self._last.pop(number), len(self._made)
        self._made[before] = replace(self._made[before], later=True)
        self._made.append(Made(blocks, of=len(self._made) - before))

    def grows(self, one: int) -> None:
        self._table = [Made(0, one=one)]

    def made(self) -> list[Made]:
        self.up_to(len(self._born))
        for number, at in self._last.items():
            b, kept = self._born[number], number in self._kept
            given = None if b.given is None else self._begins[number + b.given + 1] - at - 1
            self._made[at] = replace(self._made[at], kept=kept, given=given)
        return self._made


def _larger_each_round(
    events: Sequence[Event],
    looks: Sequence[Look],
    place_of: Callable[[int], Place],
    leaks: Collection[Place],
) -> dict[Place, One]:
    """What passes, and is larger with every round: a copy of a list that grows. Judged by the
    largest object that each line made between two looks."""
    times = [k.time for k in looks]
    largest: defaultdict[Place, Counter[int]] = defaultdict(Counter)
    ends: dict[int, int] = {}  # the block behind an object -> its blocks
    for e in events:
        if e.kind in (tracer.GC_NEW, tracer.GC_GROW):
            n = e.asked + (ends.pop(e.a, 0) if e.kind == tracer.GC_GROW else 0)
            ends[e.a + e.asked] = n
            at = bisect_left(times, e.time)
            if n >= _LEAST_LARGER:
                of = largest[place_of(e.site)]
                of[at] = max(of[at], n)
    out: dict[Place, One] = {}
    rounds = [k.round for k in looks[1:]]
    for place, of in largest.items():
        sizes = [of[k] * BLOCK for k in range(1, len(looks))]
        if place in leaks or not all(sizes):
            continue
        v = growth.judge(rounds, [{n: 1} for n in sizes])
        if v.kind == growth.GROWS and v.one > 0:
            full = min(sizes[-1], v.one * (rounds[-1] - v.since))
            out[place] = One(v.one, sizes[-1], None, table=v.table, full=full, passes=True)
    return out


def _was(one: One, b: _Born, alike: int) -> bool:
    """Whether it is that table, or was: it had each size once."""
    smaller = _LEAST_TABLE < b.blocks * BLOCK < one.size
    return b.at == one.at or (b.given is not None and smaller and alike == 1)


def _last_there(born: Iterable[_Born]) -> dict[int, _Born]:
    """{first block: the last object there}."""
    return {b.at: b for b in born if not b.grows}


def _stays(b: _Born, last: Mapping[int, _Born], objects: Mapping[int, int]) -> bool:
    """Whether it is in use."""
    return b.given is None and last.get(b.at) is b and objects.get(b.at) == b.blocks


def _passing(
    born: Sequence[_Born], many: Collection[Place], objects: Mapping[int, int]
) -> set[int]:
    """First blocks of what is in use and will not be for long: a value of this round, an old copy
    of what grows. The same line's objects of the first of these rounds are garbage."""
    last = _last_there(born)
    early = born[: len(born) // 2]
    stay = {*many, *(b.place for b in early if _stays(b, last, objects))}
    go = {b.place for b in early} - stay
    return {b.at for b in born if b.place in go and _stays(b, last, objects)}


def _ones(
    leaks: Sequence[Growth],
    objects: Sequence[tuple[int, int]],
    fullest: Fullest,
    place_of: Callable[[int], Place],
    looks: tuple[Look, Look],
) -> dict[Place, One]:
    """The growing object of each line that has one. What keeps objects one by one is at least a
    list, whose table may be as large as they are; it may be that of another line."""
    out: dict[Place, One] = {}
    lists = [g.verdict.one for g in leaks if g.verdict.table > growth.LISTS]
    now = looks[1].round
    for g in leaks:
        v = g.verdict
        own = [o for o in objects if _owner(fullest, o, place_of) == g.place]
        own = [o for o in own if o[1] * BLOCK == v.largest] or own
        if v.one > 0 and own:
            at, n = max(own, key=lambda o: o[1])
            full = min(n * BLOCK, v.entries or v.one * (now - v.since))
            out[g.place] = One(v.one, n * BLOCK, at, table=v.table, full=full, entry=v.entry)
        elif v.one <= 0 and not any(abs(n - ITEM / v.every) < _NEAR * n for n in lists):
            (item, items), *_ = Counter(n for _, n in own).most_common(1) or [(0, 0)]
            if item * BLOCK == _table_for(ITEM * items) > _LEAST_TABLE:  # the table is one of them
                items -= 1
            full = max(ITEM * items, ITEM / v.every * (now - v.since))  # not all are of one size
            size = _table_for(full)
            tables = [at for at, n in own if n * BLOCK == size > _LEAST_TABLE]
            table = tables[0] if len(tables) == 1 else None
            mine = [_of_line(look, g.place, place_of) for look in looks]
            if _has_lists(looks, mine, item * BLOCK, full):
                out[g.place] = One(ITEM / v.every, size, table, table=2.0, full=full)
    return out


def _of_line(look: Look, line: Place, place_of: Callable[[int], Place]) -> Counter[int]:
    """How many objects of each size it has of the GC heap."""
    own: Counter[int] = Counter()
    for (site, nbytes), n in look.gc.items():
        own[nbytes] += n if place_of(site) == line else 0
    return own


def _has_lists(
    looks: tuple[Look, Look], own: Sequence[Counter[int]], item: int, full: float
) -> bool:
    """Whether the script has a table whose entries fill so many bytes, or several of the line
    that fill up together, not one after the other. At the first and the last round: `looks`, and
    what the line has in them; `item`: bytes of what is kept one by one."""
    if any(site > 0 and nbytes == _table_for(full) for site, nbytes in looks[1].gc):
        return True
    before, now = ({s: n for s, n in o.items() if item != s > _LEAST_TABLE} for o in own)
    larger = (k for k in count(1) if _table_for(full / k) <= _LEAST_TABLE)
    several = [k for k in range(2, next(larger)) if now.get(_table_for(full / k), 0) >= k]
    return any(sum(before.values()) in (0, k) and sum(now.values()) == k for k in several)


def _table_for(full: float) -> int:
    """Bytes of the table of a list whose entries fill so many."""
    size = _LEAST_TABLE
    while size < full:
        size *= 2
    return size


def _owner(
    fullest: Fullest, found: tuple[int, int], place_of: Callable[[int], Place]
) -> Place | None:
    site = fullest.owners[found[0] + found[1] - 1]
    return None if site is None else place_of(site)


def _rounds(
    events: Iterable[Event], place_of: Callable[[int], Place], objects: Mapping[int, int]
) -> _Rounds:
    """What events did, as objects and their growth. `objects`: what is in use at the end."""
    out = _Rounds()
    born = out.born
    ends: dict[int, int] = {}  # the block behind an object -> its number
    freed: list[Event] = []
    events = [*events]
    freed_later = _freed_later(events)
    alone: defaultdict[Place, set[int]] = defaultdict(set)  # blocks of those whose size is known
    for e in events:
        if e.kind == tracer.GC_NEW and e.end == 1:
            alone[place_of(e.site)].add(e.asked)
    for i, e in enumerate(events):
        if e.kind == tracer.GC_FREE:
            freed.append(e)
            continue
        if e.kind == tracer.CELL and (number := ends.get(e.a + 1)) is not None:
            born[number].place = place_of(e.site)
        if e.kind not in (tracer.GC_NEW, tracer.GC_GROW):
            continue
        _give(out, freed)
        freed = []
        if e.kind == tracer.GC_NEW:
            sizes = alone[place_of(e.site)] if e.end > 1 else ()
            for at, n in _objects(e, objects, freed_later.get(i), sizes):
                ends[at + n] = len(born)
                born.append(_Born(at, n, place_of(e.site), n))
        elif e.a in ends:
            number = ends.pop(e.a)
            born[number].blocks += e.asked
            out.larger.append((len(born), number, born[number].blocks))
            ends[e.a + e.asked] = number
        else:
            born.append(_Born(e.a, e.asked, place_of(e.site), e.asked, grows=True))
    _give(out, freed)
    return out


def _freed_later(events: Sequence[Event]) -> dict[int, _Freed]:
    """{number of an event with several objects: what of them was freed, before anything else was
    there}."""
    out: dict[int, _Freed] = {}
    of_blocks = (e for e in events if e.kind in (tracer.GC_NEW, tracer.GC_FREE))
    blocks = bytearray(max((e.a + e.asked for e in of_blocks), default=0))
    cuts: set[int] = set()
    for number in range(len(events) - 1, -1, -1):
        e = events[number]
        end = e.a + e.asked
        if e.kind == tracer.GC_FREE:
            blocks[e.a : end] = b"\1" * e.asked
            cuts |= {e.a, end}
        elif e.kind == tracer.GC_NEW:
            if e.end > 1:
                inside = [at for at in range(e.a, end) if at in cuts]
                out[number] = _Freed(inside, bytes(blocks[e.a : end]))
                cuts.difference_update(inside)
            cuts -= {e.a, end}
            blocks[e.a : end] = bytes(e.asked)
    return out


def _objects(
    e: Event, objects: Mapping[int, int], freed: _Freed | None, alone: Collection[int]
) -> list[tuple[int, int]]:
    """First block, and how many, of each object of an event. Those in use, and pieces that were
    freed, are known; of the others the sizes are not: `alone` are those of the line's others."""
    end = e.a + e.asked
    gone = freed.blocks if freed else bytes(e.asked)
    there = [at for at in range(e.a, end) if at in objects and not gone[at - e.a]]
    cuts = freed.cuts if freed else []
    used = {e.a, *there, *(at + objects[at] for at in there if at + objects[at] < end)}
    starts = sorted({*used, *cuts})
    if len(starts) > e.end:  # something else lies there now
        starts, there = [e.a], []
    sizes = [to - at for at, to in zip(starts, [*starts[1:], end])]
    spare, more = e.end - len(starts), [0] * len(starts)
    for k in sorted(range(len(starts)), key=lambda k: gone[starts[k] - e.a]):
        more[k] = 0 if starts[k] in there else min(spare, sizes[k] - 1)
        spare -= more[k]
    out: list[tuple[int, int]] = []
    for at, n, of in zip(starts, sizes, more):
        parts = _parts(n, 1 + of, alone)
        out += zip((at + k for k in accumulate([0, *parts])), parts)
    return out


def _parts(blocks: int, n: int, alone: Collection[int]) -> list[int]:
    """So many blocks as n objects, the largest last: each as large as one that was allocated
    alone, the largest first; one has what is left over."""
    out: list[int] = []
    for others in range(n - 1, 0, -1):
        out.append(max((k for k in alone if k <= blocks - others), default=1))
        blocks -= out[-1]
    return sorted([*out, blocks])


def _give(rounds: _Rounds, freed: Sequence[Event]) -> None:
    """The program itself gives these back, object by object; a collector more of them, or several
    in one piece. A table that is freed after one twice as large was allocated became that."""
    born = rounds.born
    freed = _by_program(freed)
    inside = [[*_inside(born, f)] for f in freed]
    if len(freed) <= _SWEEP and any(len(numbers) > 1 for numbers in inside):
        return
    rounds.given += [(len(born), f.asked) for f in freed]
    moves = bool(born) and [2 * f.asked for f in freed] == [born[-1].blocks]
    given = [number for numbers in inside for number in numbers]
    for number in given:
        born[number].given = len(born) - number - 1
    if moves:
        born[-1].half, born[-1].grows = (given[0], False) if given else (None, True)


def _by_program(freed: Sequence[Event]) -> Sequence[Event]:
    """Without those of a collector, which comes last and frees from the first block to the last
    one."""
    places = [f.a for f in freed]
    rising = takewhile(lambda k: places[k - 1] < places[k], range(len(freed) - 1, 0, -1))
    sweep = 1 + sum(1 for _ in rising)
    return freed[:-sweep] if sweep > _SWEEP else freed


def _inside(born: Sequence[_Born], freed: Event) -> Iterator[int]:
    """Numbers of the objects that one event frees, the last first."""
    for number in range(len(born) - 1, max(-1, len(born) - 400), -1):
        b = born[number]
        inside = freed.a <= b.at and b.at + b.blocks <= freed.a + freed.asked
        if inside and b.given is None and not b.grows:
            yield number
