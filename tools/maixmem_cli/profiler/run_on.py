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

from maixmem_cli.emulator.session import DONE, LIMIT, RAISED, Options, Outcome, Session
from maixmem_cli.profiler import profile
from maixmem_cli.profiler.endless import endless
from maixmem_cli.profiler.profile import Profile, RunOn

_BEYOND = 1.2  # times the last round that is forecast
_MOST_TIMES = 4  # the rounds that were seen: more is not worth it, a profile is to cost little
MOST = 8_000_000_000  #: instructions of the whole run: ten to twenty seconds


def to_its_end(found: Profile) -> RunOn | None:
    """Such a program, run on until it got no memory, or as long as that is worth while; None: it
    has no such object, its end is further away, or it ended otherwise."""
    options, end = found.session.options, found.end
    grows = any(g.heap == "gc" and g.verdict.one > 0 and not g.verdict.table for g in found.leaks)
    source = _source(found)
    if not grows or not end or end.heap != "gc" or end.recursion or source is None:
        return None
    times = _BEYOND * (end.rounds + max(end.left, end.most or 0)) / end.rounds
    times = min(times, 1 + _MOST_TIMES, (end.rounds + _affordable(found)) / end.rounds)
    if times * end.rounds <= end.rounds + end.left:
        return None
    each = max(1, round(_pictures(found) / end.rounds))
    if not options.frames and not options.seconds:
        options = replace(options, seconds=found.session.board.state()["microseconds"] / 1e6)
    further = longer(options, times)
    if _pictures(found) and found.session.port.before_limit:
        return _went_on(*found.session.go_on(further.frames or 0, further.seconds or 0.0), each)
    with Session(found.session.firmware, found.session.script, further) as session:
        session.source = source
        on = profile.run(session, lambda text: None)
        # not every round has a look; pictures are counted
        if pictures := _pictures(on):
            return _went_on(on.outcome, pictures, each)
        return _went_on(on.outcome, on.judged.rounds or 0, 1)


def _went_on(outcome: Outcome, counted: int, each: int) -> RunOn | None:
    """What a run further shows that took so many pictures, so many each round."""
    at, died = counted // each, outcome.kind == RAISED and "MemoryError" in outcome.error
    return RunOn(at, died) if at and (died or outcome.kind == LIMIT) else None


def _affordable(found: Profile) -> float:
    """Rounds more that a run may have: what comes before the loop is not done again."""
    loop, left = found.judged.loop, max(0, MOST - found.instructions)
    passed = loop.rounds[-1] - loop.rounds[0] if loop else 0
    return left * passed / (loop.last - loop.first) if loop and passed else 0.0


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
