# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the last rounds of a program made of the GC heap, read from its events: the forecast's
beginning."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
_SWEEP = 3  # pieces that are freed one after the other: more, and a collector does it
_LEAST_TABLE = 32  # bytes of a list's first one
_LEAST_LARGER = 2  # blocks
_LARGE = 0.4  # of a growing object: an object of its line that large is it


@dataclass
class _Born:
    """An object that the rounds made. `grows`: growth of an older one; `moved`: of one that they
    made, which lies elsewhere from then on: an object like others."""

    at: int
    blocks: int
    place: Place
    given: int | None = None
    grows: bool = False
    moved: bool = False


def rounds_left(
    leaks: Sequence[Growth],
    looks: Sequence[Look],
    fullest: Fullest,
    events: Iterable[Event],
    place_of: Callable[[int], Place],
) -> tuple[int, int] | None:
    """After how many more rounds, at least and at most, the leaks of the GC heap end the program;
    None: unknown.
    `looks`: at the loop that is judged."""
    upto = [k for k in looks if k.time <= fullest.time]
    last = upto[-1] if upto else None
    first = next((k for k in reversed(upto) if last and k.round <= last.round - _ROUNDS), None)
    if not last or not first:
        return None
    objects = _in_use(fullest)
    loop = [e for e in events if upto[0].time < e.time <= fullest.time]
    seen = [e for e in loop if e.time > first.time]
    born, given = _born([e for e in seen if e.time <= last.time], place_of, objects)
    ones = _ones(leaks, [*objects.items()], fullest, place_of, last.round)
    many = {g.place for g in leaks if g.verdict.rate > g.verdict.one}
    ones = {**_larger_each_round(loop, upto, place_of, many), **ones}
    rounds = last.round - first.round
    made = _made(born, given, ones, many, objects)
    unto_now, _ = _born(seen, place_of, objects)
    passing = _passing(unto_now, many, objects) - {one.at for one in ones.values()}
    used = bytearray(owner is not None for owner in fullest.owners)
    dead = used[:]
    for at, n in objects.items():
        dead[at : at + n] = bytes([at in passing]) * n
    garbage = [(m.start(), m.end() - m.start()) for m in re.finditer(b"\1+", dead)]
    return forecast.rounds_left(used, garbage, made, rounds, [*ones.values()]) if made else None


def _in_use(fullest: Fullest) -> dict[int, int]:
    """{first block: how many} of each object."""
    states = heaps.states(fullest.used)
    return {m.start(): m.end() - m.start() for m in _OBJECT.finditer(states)}


def _made(
    born: Sequence[_Born],
    given: Sequence[int],
    ones: dict[Place, One],
    many: Collection[Place],
    objects: Mapping[int, int],
) -> list[Made]:
    """What the model allocates again. Of what grows it is found out whether it is so anew."""
    out: list[Made] = []
    numbers = {place: k for k, place in enumerate(ones)}
    last = _last_there(born)
    for b, after in zip(born, [*born[1:], None]):
        one = ones.get(b.place)
        least = _LARGE * one.size / BLOCK if one and (one.passes or not one.table) else None
        if one and least is not None and (b.grows or b.blocks >= least):
            one.moves = one.moves or not (b.grows or any(n >= least for n in given))
        elif (b.moved or not b.grows) and not (one and one.table and b.at == one.at):
            out.append(Made(b.blocks, b.place in many and _stays(b, last, objects), b.given))
        if one and (after is None or after.place != b.place):
            out.append(Made(0, one=numbers[b.place]))  # a table grows when its item is made
    return out


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


def _last_there(born: Iterable[_Born]) -> dict[int, _Born]:
    """{first block: the last object there}."""
    return {b.at: b for b in born if b.moved or not b.grows}


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
    now: int,
) -> dict[Place, One]:
    """The growing object of each line that has one. What keeps objects one by one is at least a
    list, whose table may be as large as they are."""
    out: dict[Place, One] = {}
    for g in leaks:
        v = g.verdict
        own = [o for o in objects if _owner(fullest, o, place_of) == g.place]
        own = [o for o in own if o[1] * BLOCK == v.largest] or own
        if v.one > 0 and own:
            at, n = max(own, key=lambda o: o[1])
            full = min(n * BLOCK, v.one * (now - v.since))
            out[g.place] = One(v.one, n * BLOCK, at, table=v.table, full=full)
        elif v.one <= 0:
            full = ITEM / v.every * (now - v.since)
            size = _LEAST_TABLE
            while size < full:
                size *= 2
            tables = [at for at, n in own if n * BLOCK == size > _LEAST_TABLE]
            table = tables[0] if len(tables) == 1 else None
            out[g.place] = One(ITEM / v.every, size, table, table=2.0, full=full)
    return out


def _owner(
    fullest: Fullest, found: tuple[int, int], place_of: Callable[[int], Place]
) -> Place | None:
    site = fullest.owners[found[0] + found[1] - 1]
    return None if site is None else place_of(site)


def _born(
    events: Sequence[Event], place_of: Callable[[int], Place], objects: Mapping[int, int]
) -> tuple[list[_Born], list[int]]:
    """Objects in the order in which they were allocated, growth of older ones among them; and the
    blocks of each that the program itself gave back. `objects`: what is in use at
    the end."""
    out: list[_Born] = []
    given: list[int] = []
    ends: dict[int, int] = {}  # the block behind an object -> its number
    freed: list[Event] = []
    for e in events:
        if e.kind == tracer.GC_FREE:
            freed.append(e)
            continue
        if e.kind == tracer.CELL and (number := ends.get(e.a + 1)) is not None:
            out[number] = replace(out[number], place=place_of(e.site))
        if e.kind not in (tracer.GC_NEW, tracer.GC_GROW):
            continue
        if len(freed) <= _SWEEP:
            moves = bool(out) and [2 * f.asked for f in freed] == [out[-1].blocks]
            moved = _give(out, freed)
            if moves:  # a list's table that was freed after one twice as large became that
                out[-1].grows, out[-1].moved = True, moved
            given += [f.asked for f in freed]
        freed = []
        if e.kind == tracer.GC_NEW:
            for at, n in _objects(e, objects):
                ends[at + n] = len(out)
                out.append(_Born(at, n, place_of(e.site)))
        elif e.a in ends:
            number = ends.pop(e.a)
            out[number] = replace(out[number], blocks=out[number].blocks + e.asked)
            ends[e.a + e.asked] = number
        else:
            out.append(_Born(e.a, e.asked, place_of(e.site), grows=True))
    return out, given


def _objects(e: Event, objects: Mapping[int, int]) -> list[tuple[int, int]]:
    """First block, and how many, of each object of an event. Of those that are no longer in use
    the sizes are not known: a block each, and the last one has the rest."""
    end, starts = e.a + e.asked, {e.a}
    at = e.a
    while at < end:
        n = objects.get(at, 0)
        if n or len(starts) < e.end:
            starts |= {at, min(at + n, end)}  # it grew later
        at += n or 1
    edges = [*sorted(starts - {end}), end]
    return [(a, b - a) for a, b in zip(edges, edges[1:])]


def _give(out: list[_Born], freed: Sequence[Event]) -> bool:
    """The program itself gives these back. Whether the rounds made one of them."""
    found = False
    for e in freed:
        for number in range(len(out) - 1, max(-1, len(out) - 400), -1):
            b = out[number]
            inside = e.a <= b.at and b.at + b.blocks <= e.a + e.asked
            if inside and b.given is None and (b.moved or not b.grows):
                b.given = len(out) - number - 1
                found = True
    return found
