# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What grew to the end of a profile, and is no leak: a history of the last 2,000, a log that is
cleared each hundred rounds. The stand-in says where its bound is, fast; the firmware is run on to
there where that is near. What grows by what the camera sees does not grow so on the stand-in: then
the firmware alone is run on. What is in use there tells, from where the run ended; which line
grows, where it is not the only one, is seen in a longer run from the start.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import ceil

from k210_model.gc_heap import BLOCK

from maixmem_cli.emulator.readers.tracer import LOOK, Event
from maixmem_cli.emulator.session import DONE, LIMIT, Session, imported
from maixmem_cli.firmware.builds import choose
from maixmem_cli.profiler import growth, profile, run_on
from maixmem_cli.profiler.endless import endless, of_rounds, over
from maixmem_cli.profiler.leaks import Bound, Growth
from maixmem_cli.profiler.profile import Profile
from maixmem_cli.profiler.unbounded import keys, numbers, unbounded
from maixmem_cli.runs import recorded
from maixmem_cli.text.needs import WrongUse

_NEAR = 10  # times as long as the run was
_PAST = 2  # times the round of a bound: to there nothing more grows
PICTURE, ROUND = "picture", "round"


def settle(found: Profile) -> None:
    """Takes what is bounded out of the leaks."""
    session, end, growing = found.session, found.end, found.growing
    if growing and found.outcome.kind == DONE:
        _with_more_rounds(found)
    if not growing or not end or found.outcome.kind != LIMIT or _by_text(found):
        return
    pictures = session.tracer.times("snapshot")
    seen = len(pictures) or end.rounds
    place = recorded.Place(choose(str(session.firmware)), session.firmware, session.options)
    most = seen * (end.rounds + max(end.left, end.most or 0)) // end.rounds
    rates = [g.verdict.rate * end.rounds / seen for g in growing]
    written = _written(found, session.source)
    tables = {i: g.verdict.table for i, g in enumerate(growing) if g.verdict.table}
    try:
        told = recorded.bounded(session.script, place, seen, most, rates, tables, written)
    except WrongUse:  # no stand-in here
        return
    if not told:
        return
    times = told.pictures / seen
    if not told.sure:
        times = min(times, _NEAR, run_on.MOST / found.instructions)
    bound = Bound(told.settled, round(times * seen), PICTURE if pictures else ROUND)
    those = [growing[i] for i in told.which]
    if times > _NEAR:
        found.settle(those, bound)
    elif times > 1:
        _by_firmware(found, those, bound, seen, told.sure)


def _by_text(found: Profile, ever: Collection[int] = ()) -> bool:
    """Whether the script itself shows that no longer run finds a bound. `ever`: lines of loops
    over range() that get more rounds."""
    loop, name, source = found.judged.loop, found.session.script.name, found.session.source
    places = {g.place for g in found.growing}
    if not loop or any(p.file != name for p in (*loop.chain[-1:], *places)):
        return False
    line = loop.chain[-1].line if loop.chain else 0
    lines = {p.line for p in places}
    return unbounded(source, line, lines, ever) or (not ever and over(source, loop.passed, line))


def _written(found: Profile, source: str) -> float:
    """The round in which what grows may come to the farthest bound that the source has a number
    for: the length of a history, the limit of a cache."""
    folder = found.session.script.parent
    if any((folder / f"{name}.py").is_file() for name in imported(source)):
        return recorded.WORTH  # it may have the number
    slow = max(max(g.verdict.every, 1 / g.verdict.rate) for g in found.growing)
    return max(n * max(1.0, slow) for n in numbers(source, recorded.WORTH))


def _by_firmware(
    found: Profile, those: Sequence[Growth], bound: Bound, seen: int, sure: bool
) -> None:
    """Settles what a run of the firmware shows to be bounded: all, where no more is in use; else
    of several those that grow no more."""
    growing, times, each = found.growing, bound.shown / seen, seen / (found.judged.rounds or seen)
    rounds, used = _further(found, times)
    if rounds and growth.judge(rounds, used).kind in (growth.FLAT, growth.FULL):
        last = growth.settled(rounds, [n[BLOCK] for n in used]) or 0
        until = bound.until if sure else seen + round(last * each)
        found.settle(growing, replace(bound, until=until, ran=True))
    elif (len(growing) > 1 or not rounds) and (on := _run_on(found, times)):
        for g, last in _ended(found, those, on).items():
            until = bound.until if sure else max(seen, round(last * each))
            found.settle([g], replace(bound, until=until, ran=True))


def _with_more_rounds(found: Profile) -> None:
    """Settles what grew in a loop over range() that ended, but not in one of more rounds."""
    rounds, source = found.judged.rounds or 0, found.session.source
    text = endless(source, rounds, 0) or ""  # its own number is no bound
    written = _written(found, text) * keys(text, recorded.WORTH)
    if written <= rounds or _by_text(found, of_rounds(source, rounds)):
        return
    times = min(_NEAR, run_on.MOST / found.instructions, 1 + _PAST * written / rounds)
    more = ceil(times * rounds)
    longer = endless(source, rounds, more)
    if longer and (on := _run_on(found, times, longer)):
        for g, last in _ended(found, found.growing, on).items():
            found.settle([g], Bound(max(rounds, last), more, ROUND, ran=True))


def _ended(found: Profile, those: Sequence[Growth], on: Profile) -> dict[Growth, int]:
    """{those that do not grow in a longer run: the last round in which they did}."""
    still = {g.place for g in on.growing}
    if still - {g.place for g in found.growing}:
        return {}  # it is other lines that grow there: of these nothing is seen
    return {g: on.grew_until(g.place) for g in those if g.place not in still}


def _further(found: Profile, times: float) -> tuple[list[int], list[growth.Held]]:
    """Rounds after the end of the run, and all that was in use at each, had it been so many times
    as long; none where it does not go on from there, or ends otherwise."""
    session, loop = found.session, found.judged.loop
    before = session.port.before_limit
    if not before or not loop:
        return [], []
    key = (loop.outer or loop).key
    longer = run_on.longer(session.options, times)
    with run_on.further_traced(session) as tracer:
        ended, _ = session.go_on(before, longer.frames or 0, longer.seconds or 0.0, tracer)
        all_looks = [*tracer.of(LOOK)]
        looks = [e for e in all_looks if e.asked == key]
    if ended.kind != LIMIT or len(looks) < growth.LEAST or _is_over(looks, all_looks[-1].time):
        return [], []
    return [e.end for e in looks], [{BLOCK: e.a} for e in looks]


def _is_over(looks: Sequence[Event], now: int) -> bool:
    """Whether a loop had ended by then."""
    longest = max(b.time - a.time for a, b in zip(looks, looks[1:]))
    return now - looks[-1].time > _PAST * longest


def _run_on(found: Profile, times: float, source: str = "") -> Profile | None:
    """The profile of a run so many times as long, of a source with the same lines; None: it did
    not come to that end."""
    session = found.session
    longer = run_on.longer(session.options, times)
    with Session(session.firmware, session.script, longer) as board:
        board.source = source or board.source
        on = profile.run(board, lambda text: None)
        return on if on.outcome.kind in (LIMIT, found.outcome.kind) else None
