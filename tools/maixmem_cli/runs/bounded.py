# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What grew to the end of a profile, and is no leak: a history of the last 2,000, a log that is
cleared each hundred rounds. The stand-in says where its bound is, fast; the firmware is run on to
there where that is near. What grows by what the camera sees does not grow so on the stand-in: then
the firmware alone is run on.
"""

from __future__ import annotations

from dataclasses import replace

from maixmem_cli.emulator.session import LIMIT, Session
from maixmem_cli.firmware.builds import choose
from maixmem_cli.profiler import profile, run_on
from maixmem_cli.profiler.leaks import Bound
from maixmem_cli.profiler.profile import Profile
from maixmem_cli.runs import recorded
from maixmem_cli.text.needs import WrongUse

_NEAR = 10  # times as long as the run was
PICTURE, ROUND = "picture", "round"


def settle(found: Profile) -> None:
    """Takes what is bounded out of the leaks."""
    session, end, growing = found.session, found.end, found.growing
    if not growing or not end or found.outcome.kind != LIMIT:
        return
    pictures = session.tracer.times("snapshot")
    seen = len(pictures) or end.rounds
    place = recorded.Place(choose(str(session.firmware)), session.firmware, session.options)
    most = seen * (end.rounds + max(end.left, end.most or 0)) // end.rounds
    rates = [g.verdict.rate * end.rounds / seen for g in growing]
    try:
        told = recorded.bounded(session.script, place, seen, most, rates)
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
    elif times > 1 and (on := _run_on(found, times)):
        still = {g.place for g in on.growing}
        if still - {g.place for g in growing}:
            return  # it is other lines that grow there: of these nothing is seen
        for g in those:
            if g.place not in still:
                last = round(on.grew_until(g.place) * seen / end.rounds)
                until = told.settled if told.sure else max(seen, last)
                found.settle([g], replace(bound, until=until, ran=True))


def _run_on(found: Profile, times: float) -> Profile | None:
    """The profile of a run so many times as long; None: it did not come to that end."""
    session = found.session
    longer = run_on.longer(session.options, times)
    with Session(session.firmware, session.script, longer) as board:
        on = profile.run(board, lambda text: None)
        return on if on.outcome.kind == LIMIT else None
