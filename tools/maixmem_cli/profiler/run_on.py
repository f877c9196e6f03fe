# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""When an object that grows ends a program: it is run on to there, where that is soon.

An object that is allocated anew, larger, needs one piece, and which of its old copies a word left
on the stack keeps is chance: no forecast tells it. With one more comment above it a program died
in its round 129 or 74. A loop over range() that ended goes on for that.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil

from maixmem_cli.emulator.readers.tracer import LOOK
from maixmem_cli.emulator.session import DONE, LIMIT, RAISED, Options, Outcome, Session
from maixmem_cli.heap.qstrs import Qstrs
from maixmem_cli.profiler.endless import endless
from maixmem_cli.profiler.loops import Loop
from maixmem_cli.profiler.profile import Profile, RunOn

_BEYOND = 1.2  # times the last round that is forecast
MOST = 8_000_000_000  #: instructions of a longer run: ten to twenty seconds
#: of the run's instructions, or so many, a fifth of a second: a profile is to cost little more
_SHARE, _SHORT = 0.2, 150_000_000


def to_its_end(found: Profile) -> RunOn | None:
    """Such a program, run on until it got no memory, or as long as that is worth while; None: it
    has no such object, its end is too far away, or it ended otherwise."""
    options, end, loop = found.session.options, found.end, found.judged.loop
    grows = any(g.heap == "gc" and g.verdict.one > 0 and not g.verdict.table for g in found.leaks)
    source = _source(found)
    if not grows or not loop or not end or end.heap != "gc" or end.recursion or source is None:
        return None
    times = _BEYOND * (end.rounds + max(end.left, end.most or 0)) / end.rounds
    goes_on = _pictures(found) and found.session.port.before_limit
    times = min(times, _affordable(found, loop, again=not goes_on) / end.rounds)
    if times * end.rounds <= end.rounds + end.left:
        return None
    each = max(1, round(_pictures(found) / end.rounds))
    if not options.frames and not options.seconds:
        options = replace(options, seconds=found.session.board.state()["microseconds"] / 1e6)
    further = longer(options, times)
    if goes_on:
        return _went_on(*found.session.go_on(further.frames or 0, further.seconds or 0.0), each)
    with Session(found.session.firmware, found.session.script, further) as session:
        session.source = source
        session.tracer.start(session.finder, gc=True, live=True)
        outcome = session.run(lambda text: None)
        # not every round has a look; pictures are counted
        if pictures := int(session.board.state()["frames"]):
            return _went_on(outcome, pictures, each)
        return _went_on(outcome, _rounds(session, loop), 1)


def _rounds(session: Session, loop: Loop) -> int:
    """The last round of the same loop, of a line; one inside it on that line has more."""
    stacks = session.tracer.stacks(Qstrs(session.board.ram))
    last: dict[int, int] = {}
    for look in session.tracer.of(LOOK):
        if look.asked and [p.line for p in stacks.get(look.site, ())][:1] == [loop.chain[-1].line]:
            last[look.asked] = look.end
    return min(last.values(), default=0)


def _went_on(outcome: Outcome, counted: int, each: int) -> RunOn | None:
    """What a run further shows that took so many pictures, so many each round."""
    at, died = counted // each, outcome.kind == RAISED and "MemoryError" in outcome.error
    return RunOn(at, died) if at and (died or outcome.kind == LIMIT) else None


def _affordable(found: Profile, loop: Loop, *, again: bool) -> float:
    """Rounds in all that a run further may have; `again`: it begins anew."""
    passed = loop.rounds[-1] - loop.rounds[0]
    each = (loop.last - loop.first) / passed if passed else 0.0
    left = max(_SHARE * found.instructions, _SHORT) - (found.instructions if again else 0)
    return loop.passed + left / each if each else 0.0


def _source(found: Profile) -> str | None:
    """Of a script that goes on; None: it ended."""
    if found.outcome.kind == LIMIT:
        return found.session.source
    rounds = found.judged.rounds or 0
    return endless(found.session.source, rounds) if found.outcome.kind == DONE else None


def longer(options: Options, times: float | Fraction) -> Options:
    """For a run so many times as long, which is to show nothing."""
    return replace(
        options,
        frames=options.frames and ceil(times * options.frames),
        seconds=options.seconds and float(times * options.seconds),
        save_lcd=None,
    )


def _pictures(found: Profile) -> int:
    return int(found.session.board.state()["frames"])
