# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""When an object that grows ends a program: it is run on to there, where that is soon.

An object that is allocated anew, larger, needs one piece, and which of its old copies a word left
on the stack keeps is chance: no forecast tells it. With one more comment above it a program died
in its round 129 or 74. A loop over range() that ended goes on for that, from before its end.
"""

from __future__ import annotations

import contextlib
import tempfile
from bisect import bisect
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path

from k210_model.heap import RAM_START

from maixmem_cli.emulator.readers.tracer import LOOK, Tracer
from maixmem_cli.emulator.session import DONE, LIMIT, RAISED, Options, Session
from maixmem_cli.emulator.watched import Moment
from maixmem_cli.profiler.endless import without_end
from maixmem_cli.profiler.loops import Loop
from maixmem_cli.profiler.profile import Profile, RunOn

_BEYOND = 1.2  # times the last round that is forecast
MOST = 8_000_000_000  #: instructions of a longer run: ten to twenty seconds
#: of the run's instructions, or so many, a fifth of a second: a profile is to cost little more
_SHARE, _SHORT = 0.2, 150_000_000
_CONDITION = 16  # bytes of bytecode, at most


def to_its_end(found: Profile) -> RunOn | None:
    """Such a program, gone on with until it got no memory, or as long as that is worth while;
    None: it has no such object, its end is too far away, or it ended otherwise."""
    end, loop = found.end, found.judged.loop
    grows = any(g.heap == "gc" and g.verdict.one > 0 and not g.verdict.table for g in found.leaks)
    if not grows or not loop or not end or end.heap != "gc" or end.recursion:
        return None
    before, changed = _before_its_end(found, loop)
    times = _BEYOND * (end.rounds + max(end.left, end.most or 0)) / end.rounds
    times = min(times, _affordable(found, loop) / end.rounds)
    if not before or times * end.rounds <= end.rounds + end.left:
        return None
    options = found.session.options
    if not options.frames and not options.seconds:
        options = replace(options, seconds=found.session.board.state()["microseconds"] / 1e6)
    further = longer(options, times)
    with further_traced(found.session) as tracer:
        outcome, pictures = found.session.go_on(
            before, further.frames or 0, further.seconds or 0.0, tracer, changed
        )
        if pictures:  # not every round has a look; pictures are counted
            at = pictures // max(1, round(_pictures(found) / end.rounds))
        else:
            at = max((k.end for k in tracer.of(LOOK) if k.asked == loop.key), default=0)
            at += at and _rounds_at(found, loop, before.instructions)
    died = outcome.kind == RAISED and "MemoryError" in outcome.error
    return RunOn(at, died) if at and (died or outcome.kind == LIMIT) else None


@contextlib.contextmanager
def further_traced(session: Session) -> Iterator[Tracer]:
    """What follows a script that goes on."""
    with tempfile.TemporaryDirectory() as folder:
        tracer = Tracer(session.board, session.known, Path(folder))
        try:
            yield tracer
        finally:
            tracer.close()


def _before_its_end(found: Profile, loop: Loop) -> tuple[Moment | None, tuple[int, bytes] | None]:
    """From where a script goes on, and what is changed for that: the condition of a loop that had
    ended. None: it is not known from where."""
    session = found.session
    if found.outcome.kind == LIMIT:
        return session.port.before_limit, None
    before = session.port.in_loop.get(loop.key) if found.outcome.kind == DONE else None
    if not before or not loop.first < before.instructions < loop.last:
        return None, None
    ram, at = session.board.ram, loop.key - RAM_START
    condition = without_end(bytes(ram[at - _CONDITION : at]))
    return (before, (loop.key - len(condition), condition)) if condition else (None, None)


def _rounds_at(found: Profile, loop: Loop, time: int) -> int:
    """Rounds that a loop had done by then."""
    looks = [(found.books.looks[i].time, n) for i, n in zip(loop.at, loop.rounds)]
    after = bisect([t for t, _ in looks], time)
    (t, n), (later, more) = looks[after - 1], looks[min(after, len(looks) - 1)]
    return n + (more - n) * (time - t) // max(1, later - t)


def _affordable(found: Profile, loop: Loop) -> float:
    """Rounds in all that a run further may have."""
    passed = loop.rounds[-1] - loop.rounds[0]
    each = (loop.last - loop.first) / passed if passed else 0.0
    left = max(_SHARE * found.instructions, _SHORT)
    return loop.passed + left / each if each else 0.0


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
