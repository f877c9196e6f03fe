# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the last rounds of a program made of the GC heap, read from its events: the forecast's
beginning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Callable

from maixmem_cli.emulator.readers import tracer
from maixmem_cli.emulator.readers.tracer import Event, Place
from maixmem_cli.heap import heaps
from maixmem_cli.heap.heaps import BLOCK
from maixmem_cli.profiler import forecast
from maixmem_cli.profiler.forecast import Made, One
from maixmem_cli.profiler.growth import ITEM
from maixmem_cli.profiler.leaks import Growth
from maixmem_cli.profiler.ledger import Fullest, Look

_OBJECT = re.compile(b"\x01\x02*")  # HEAD, then TAIL
_ROUNDS = 8  # that are made again, at least
_SWEEP = 3  # pieces that are freed one after the other: more, and a collector does it
_LEAST_TABLE = 32  # bytes of a list's first one
_LARGE = 0.4  # of a growing object: an object of its line that large is it


@dataclass
class _Born:
    """An object that the rounds made."""

    at: int
    blocks: int
    place: Place
    given: int | None = None
    grows: bool = False


def rounds_left(
    leaks: Sequence[Growth],
    looks: Sequence[Look],
    fullest: Fullest,
    events: Callable[[], Iterable[Event]],
    place_of: Callable[[int], Place],
) -> int | None:
    """After how many more rounds the leaks of the GC heap end the program; None: unknown.
    `looks`: at the loop that is judged."""
    upto = [k for k in looks if k.time <= fullest.time]
    last = upto[-1] if upto else None
    first = next((k for k in reversed(upto) if last and k.round <= last.round - _ROUNDS), None)
    if not last or not first:
        return None
    born, given = _born([e for e in events() if first.time < e.time <= last.time], place_of)
    states = heaps.states(fullest.used)
    objects = [(m.start(), m.end() - m.start()) for m in _OBJECT.finditer(states)]
    ones = _ones(leaks, objects, fullest, place_of, last.round)
    numbers = {place: k for k, place in enumerate(ones)}
    many = {g.place for g in leaks if g.verdict.rate > g.verdict.one}
    made: list[Made] = []
    used = bytearray(owner is not None for owner in fullest.owners)
    live = bytearray(len(used))
    for at, n in objects:
        live[at : at + n] = b"\1" * n
    for b, after in zip(born, [*born[1:], None]):
        one = ones.get(b.place)
        least = _LARGE * one.size / BLOCK if one and not one.table else None
        if one and least is not None and (b.grows or b.blocks >= least):
            one.moves = one.moves or not (b.grows or any(n >= least for n in given))
        elif not b.grows and not (one and one.table and b.at == one.at):
            kept = b.given is None and b.place in many and live[b.at + b.blocks - 1] == 1
            made.append(Made(b.blocks, kept, b.given))
        if one and (after is None or after.place != b.place):
            made.append(Made(0, one=numbers[b.place]))  # a table grows when its item is made
    dead = bytes(a & ~b & 1 for a, b in zip(used, live))
    garbage = [(m.start(), m.end() - m.start()) for m in re.finditer(b"\1+", dead)]
    rounds = last.round - first.round
    return forecast.rounds_left(used, garbage, made, rounds, [*ones.values()]) if made else None


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
            out[g.place] = One(ITEM / v.every, size, None, table=2.0, full=full)
    return out


def _owner(
    fullest: Fullest, found: tuple[int, int], place_of: Callable[[int], Place]
) -> Place | None:
    site = fullest.owners[found[0] + found[1] - 1]
    return None if site is None else place_of(site)


def _born(
    events: Sequence[Event], place_of: Callable[[int], Place]
) -> tuple[list[_Born], list[int]]:
    """Objects in the order in which they were allocated, growth of older ones among them; and the
    blocks of each that the program itself gave back."""
    out: list[_Born] = []
    given: list[int] = []
    ends: dict[int, int] = {}  # the block behind an object -> its number
    freed: list[Event] = []
    for e in events:
        if e.kind == tracer.GC_FREE:
            freed.append(e)
            continue
        if e.kind not in (tracer.GC_NEW, tracer.GC_GROW):
            continue
        if len(freed) <= _SWEEP:
            _give(out, freed)
            given += [f.asked for f in freed]
        freed = []
        if e.kind == tracer.GC_NEW:
            heads = max(1, e.end) - 1  # of a block each, before what they have: not told apart
            for at, n in [*((e.a + k, 1) for k in range(heads)), (e.a + heads, e.asked - heads)]:
                ends[at + n] = len(out)
                out.append(_Born(at, n, place_of(e.site)))
        elif e.a in ends:
            number = ends.pop(e.a)
            out[number] = replace(out[number], blocks=out[number].blocks + e.asked)
            ends[e.a + e.asked] = number
        else:
            out.append(_Born(e.a, e.asked, place_of(e.site), grows=True))
    return out, given


def _give(out: list[_Born], freed: Sequence[Event]) -> None:
    """The program itself gives these back."""
    for e in freed:
        for number in range(len(out) - 1, max(-1, len(out) - 400), -1):
            b = out[number]
            inside = e.a <= b.at and b.at + b.blocks <= e.a + e.asked
            if inside and b.given is None and not b.grows:
                b.given = len(out) - number - 1
