# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Lines that retain more and more, as against caches that fill up and what is allocated once.

Each line's bytes go to the judge of growth, as they were at the same point of each round of a loop
that is judged. A line that grew in one loop and is flat in a later one made something once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Callable

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler import growth, loops
from maixmem_cli.profiler.growth import FEW, FLAT, FULL, GROWS, LEAST, Held, Verdict
from maixmem_cli.profiler.ledger import Kept, Look
from maixmem_cli.profiler.loops import Chain, Loop, Sites, line_of
from maixmem_cli.profiler.recursion import deepening

LEAK, FIRMWARE, RECURSION, CACHE = "leak", "firmware", "recursion", "full"  #: kinds
BOUNDED = "bounded"  #: a kind: it grew to the end of the run, but does not for ever
ONCE = "once"  #: a kind: it grew in a loop that is over, and not in the loops after it
_FULL = 1024  # bytes of a cache that is worth a word
_STAYS = 0.1  # of what a line has more: all together has no more or less than that
_LOST = 2  # steps up of what is known to be lost with each call
_SEEN = (
    3  # rounds of a later loop in which what was made once is seen to be flat; or of one around
)
_NONE: Held = {}
Of = tuple[str, Place]  #: heap and line


@dataclass(frozen=True)
class Bound:
    """It grows up to the round or picture `until`; a run of so many shows it. `ran`: it did, on
    the firmware; else the stand-in is the witness."""

    until: int
    shown: int
    unit: str
    ran: bool = False


@dataclass(frozen=True)
class Growth:
    """What a line keeps more of with every round; of the kind "full": what has filled up; of the
    kind "bounded": what is to; of the kind "once": what it kept more of before."""

    heap: str
    place: Place
    verdict: Verdict
    kind: str = LEAK
    times: int = 0  #: of the firmware's own loss: how often it happened
    gc_too: int = 0  #: of the firmware's own loss: bytes of the GC heap beside it
    bound: Bound | None = None  #: of what is bounded

    @property
    def leaks(self) -> bool:
        return self.kind not in (CACHE, BOUNDED, ONCE)

    @property
    def each(self) -> float:
        """Bytes a round, or each time."""
        return self.verdict.each

    @property
    def each_time(self) -> int:
        """The same, whole; of the firmware's own loss for each time that it happened."""
        return self.nbytes // self.times if self.times else round(self.each)

    @property
    def rounds(self) -> int:
        """That were judged."""
        return self.verdict.rounds

    @property
    def nbytes(self) -> int:
        """That it has in use."""
        return self.verdict.nbytes


@dataclass(frozen=True)
class Judged:
    """Leaks and full caches, those with most bytes first; `rounds`: of the loop that ran at the
    end, None without one; `enough`: how many would tell, 0 where these do."""

    growths: list[Growth]
    rounds: int | None = None
    enough: int = 0
    loop: Loop | None = None

    @property
    def too_few(self) -> bool:
        return bool(self.enough)


@dataclass
class _Owner:
    """A line and one heap: what it held at each snapshot, and how its lines were called."""

    held: dict[int, Counter[int]] = field(default_factory=dict)
    filled: dict[int, dict[int, int]] = field(default_factory=dict)
    entries: dict[int, Counter[int]] = field(default_factory=dict)
    chains: set[Chain] = field(default_factory=set)


def judged(
    looks: Sequence[Look],
    sites: Sites,
    lost: Callable[[Place], int] = lambda place: 0,
    taken_over: Collection[tuple[int, int]] = (),
) -> Judged:
    """Sites that are not above 0 are nobody's. `lost`: how often a line called the firmware for
    what that does not give back. `taken_over`: the second site gave an object of the first more
    blocks."""
    chosen = loops.judged(looks, sites)
    # what a thread does when the script has ended is no further round
    own = [x for x in chosen if not x.beside] or chosen
    few: list[Verdict] = []

    def told(of: Of, owner: _Owner) -> Growth | None:
        steps = _LOST if lost(of[1]) else growth.STEPS
        verdicts = [(loop, _told_by(of, owner, loop, looks, steps)) for loop in chosen]
        few.extend(v for x, v in verdicts if x is own[-1] and v.kind == FEW)
        kind, verdict = _one(verdicts, owner)
        if not verdict:
            return None
        times = lost(of[1]) if kind == LEAK else 0
        return Growth(*of, verdict, FIRMWARE if times else kind, times)

    owners = _owners(looks, sites.chain)
    out = [g for of, owner in owners.items() if (g := told(of, owner))]
    blamed = {g.place for g in out if g.leaks and g.heap == "gc"}
    for places in _together(taken_over, sites.chain):
        of = {p: owners["gc", p] for p in places if ("gc", p) in owners}
        if len(of) > 1 and not blamed & of.keys():
            has = max(of, key=lambda p: _largest_last(of[p]))  # the object now, or last
            g = told(("gc", has), _as_one(of.values()))
            if g and g.leaks:
                out = [x for x in out if x.heap != "gc" or x.place not in of] + [g]
    out += _lists(out, owners, chosen[-1]) if chosen else []
    if not any(x.passed >= _SEEN for x in chosen):
        out += [Growth("gc", p, v, RECURSION) for p, v in deepening(looks, sites.chain).items()]
    out = _with_its_objects(out)
    out.sort(key=lambda g: (-g.each, -g.nbytes, str(g.place)))
    grown = any(g.leaks for g in out)  # then what is kept now and then is not the question
    enough = max((v.enough for v in few if not (grown and v.now_and_then)), default=0)
    last = chosen[-1] if chosen else None
    if last and last.outer and (enough or last.outer.passed >= _SEEN):
        last = last.outer
    return Judged(out, last.passed if last else None, enough, last)


def _lists(found: list[Growth], owners: dict[Of, _Owner], loop: Loop) -> list[Growth]:
    """Lists of what leaks, each made larger by a line that is not yet known to."""
    own = {p: o for (heap, p), o in owners.items() if heap == "gc"}
    leaks = [g for g in found if g.heap == "gc" and g.kind == LEAK and not g.verdict.one]
    out: dict[Place, Growth] = {}
    for g in leaks:
        held = [own[g.place].held.get(i, _NONE) for i in loop.at]
        for place in own.keys() - {x.place for x in found if x.leaks} - out.keys():
            filled = [own[place].filled.get(i, _NONE) for i in loop.at]
            if v := growth.list_of(g.verdict, held, filled):
                out[place] = Growth("gc", place, v)
    return [*out.values()]


def _with_its_objects(found: list[Growth]) -> list[Growth]:
    """What the firmware loses of both heaps at one line is reported once."""
    small = {g.place: g.nbytes for g in found if (g.heap, g.kind) == ("gc", FIRMWARE)}
    large = {g.place for g in found if (g.heap, g.kind) == ("heap", FIRMWARE)}
    rest = [g for g in found if not (g.heap == "gc" and g.kind == FIRMWARE and g.place in large)]
    return [
        replace(g, gc_too=small.get(g.place, 0)) if g.kind == FIRMWARE and g.heap == "heap" else g
        for g in rest
    ]


def _chain(site: int, chain_of: Callable[[int], Chain]) -> Chain:
    """How a site was called; () where it is nobody's."""
    return chain_of(site) if site > 0 else ()


def _owners(looks: Sequence[Look], chain_of: Callable[[int], Chain]) -> dict[Of, _Owner]:
    out: dict[Of, _Owner] = {}
    for i, look in enumerate(looks):
        for heap, kept in (("gc", look.gc), ("heap", look.heap)):
            for (site, nbytes), n in kept.items():
                if chain := _chain(site, chain_of):
                    owner = out.setdefault((heap, line_of(chain)), _Owner())
                    owner.held.setdefault(i, Counter())[nbytes] += n
                    if heap == "gc" and (most := look.filled.get((site, nbytes), 0)):
                        filled = owner.filled.setdefault(i, {})
                        filled[nbytes] = max(filled.get(nbytes, 0), most)
                        of_entries = owner.entries.setdefault(i, Counter())
                        of_entries[nbytes] += look.entries[site, nbytes]
                    owner.chains.add(chain)
    return out


def _largest_last(owner: _Owner) -> tuple[int, int]:
    """The last look at which it had something, and the bytes of its largest object then."""
    look = max(owner.held)
    return look, max(owner.held[look])


def grew_until(
    looks: Sequence[Look], chain_of: Callable[[int], Chain], loop: Loop, place: Place
) -> int:
    """The last round of a loop in which a line had more of the GC heap than before."""

    def held(kept: Kept) -> int:
        chains = ((_chain(site, chain_of), s * n) for (site, s), n in kept.items())
        return sum(nbytes for chain, nbytes in chains if chain and line_of(chain) == place)

    low = growth.lowest([held(looks[i].gc) for i in loop.at])
    return max((n for a, b, n in zip(low, low[1:], loop.rounds[1:]) if b > a), default=0)


def _together(
    taken_over: Collection[tuple[int, int]], chain_of: Callable[[int], Chain]
) -> list[set[Place]]:
    """Lines that make the same objects larger."""
    out: list[set[Place]] = []
    for sites in taken_over:
        lines = {line_of(chain) for site in sites if (chain := _chain(site, chain_of))}
        for group in [g for g in out if g & lines]:
            out.remove(group)
            lines |= group
        out.append(lines)
    return out


def _as_one(owners: Iterable[_Owner]) -> _Owner:
    """What lines hold together."""
    one = _Owner()
    for owner in owners:
        one.chains |= owner.chains
        for i, held in owner.held.items():
            one.held.setdefault(i, Counter()).update(held)
        for i, filled in owner.filled.items():
            of = one.filled.setdefault(i, {})
            of.update({size: max(n, of.get(size, 0)) for size, n in filled.items()})
        for i, entries in owner.entries.items():
            one.entries.setdefault(i, Counter()).update(entries)
    return one


def _told_by(of: Of, owner: _Owner, loop: Loop, looks: Sequence[Look], steps: int) -> Verdict:
    """What grows in place of other lines' objects is flat."""
    found = _verdict(of, owner, loop, steps)
    in_place = of[0] == "gc" and found.kind == GROWS and _in_place(owner, loop, looks)
    return replace(found, kind=FLAT) if in_place else found


def _in_place(owner: _Owner, loop: Loop, looks: Sequence[Look]) -> bool:
    """Whether a line has more while all of the GC heap together has as much as before."""
    low = _low(owner, loop)
    used = [looks[i].gc_used for i in loop.at]
    return max(used) - min(used) <= _STAYS * (low[-1] - low[0])


def _verdict(of: Of, owner: _Owner, loop: Loop, steps: int) -> Verdict:
    """By a loop; by that of few rounds around it where that shows no growth from round to round,
    and by its rounds in any case: they are those of the program."""
    found, outer = _by_loop(of, owner, loop, steps), loop.outer
    if not outer or (outer.passed < _SEEN and found.kind == GROWS and _in_each(owner, outer)):
        return found
    few = _by_loop(of, owner, outer, steps)
    if found.kind != GROWS or not _in_each(owner, outer):
        return few
    by_outer = _by_loop(of, owner, outer, _LOST, _SEEN)
    return by_outer if by_outer.kind == GROWS else few


def _by_loop(of: Of, owner: _Owner, loop: Loop, steps: int, least: int = LEAST) -> Verdict:
    held: list[Held] = [owner.held.get(i, _NONE) for i in loop.at]
    filled: list[Held] = [owner.filled.get(i, _NONE) for i in loop.at]
    entries: list[Held] = [owner.entries.get(i, _NONE) for i in loop.at]
    exact = of[0] == "heap"
    judge = partial(growth.judge, exact=exact, least=least, steps=steps)
    return judge(loop.rounds, held, filled, entries)


def _low(owner: _Owner, loop: Loop) -> list[int]:
    """What a line holds in each round of a loop and keeps for good."""
    return growth.lowest(
        [sum(s * n for s, n in owner.held.get(i, _NONE).items()) for i in loop.at]
    )


def _in_each(owner: _Owner, loop: Loop) -> bool:
    """Whether a line had more after most rounds of a loop, as far as that was looked at."""
    low = _low(owner, loop)
    return 2 * sum(b > a for a, b in zip(low, low[1:])) >= len(low) - 1


def _one(verdicts: list[tuple[Loop, Verdict]], owner: _Owner) -> tuple[str, Verdict | None]:
    """Of what each loop tells of a line, in their order. That of the loop in which it is called
    counts, and none after which it stays as it was: that was allocated once."""
    own = [(x, v) for x, v in verdicts if any(x.covers(c) for c in owner.chains)] or verdicts
    grown = [(x, v) for x, v in own if v.kind == GROWS]
    full = [v for x, v in own if v.kind == FULL and v.nbytes >= _FULL]
    once: Verdict | None = None
    for loop, verdict in reversed(grown):
        after = [v for x, v in verdicts if x.first >= loop.last and x.passed >= _SEEN]
        if not any(v.kind in (FLAT, FULL) for v in after):
            return LEAK, verdict
        once = once or replace(verdict, nbytes=min(verdict.nbytes, after[-1].nbytes))
    if once:
        return ONCE, once if once.nbytes >= _FULL else None
    return CACHE, full[-1] if full else None
