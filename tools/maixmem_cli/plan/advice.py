# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The answer to a run of a script: its facts, its cause, and the remedy that was tried."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from maixmem_cli.answer import facts, of_message
from maixmem_cli.answer.answer import COMPUTED, PROVED, Answer, Step, answer
from maixmem_cli.answer.tables import remedies
from maixmem_cli.errors.files import say
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.plan import of_record, tried
from maixmem_cli.plan.tried import Bench
from maixmem_cli.profiler import growth
from maixmem_cli.record import record
from maixmem_cli.record.record import Record
from maixmem_cli.runs.change import Edit
from maixmem_cli.runs.trial import Trial

_SEVERAL = 2  # changes of a plan: each alone was tried
_PICTURES, _MOST = growth.LEAST + 5, 100  # that a remedy has to run for


def of_run(found: Record, language: str, output: str = "") -> Answer | None:
    """What a run says, nothing tried; None where it ended well and nothing grows."""
    if not _ends_badly(found):
        return None
    known = facts.of_record(found, output)
    if "means" in known:
        known["means"] = say(str(known["means"]), language)
    made = answer(known, language, numbers=facts.holders(found))
    others = [*([made.step] if made.step else []), *made.others]
    steps = [*others, *of_message.steps(known, language)]
    return replace(made, step=steps[0] if steps else None, others=tuple(steps[1:]))


def may_help(made: Answer) -> bool:
    """Whether a change of the script may: a remedy applies that is one."""
    return any(remedy.tried and remedy.applies(made.facts) for remedy in remedies().values())


def _ends_badly(found: Record) -> bool:
    end = found.end
    if found.lacked:
        return True
    if end.kind == record.LIMIT:
        return bool(found.growth or end.refused)
    return end.kind not in (record.DONE, record.INTERRUPTED) or bool(end.refused and end.caught)


def before(found: Record, script: Path, source: str, bench: Bench) -> Trial:
    """The run without a change, for those with one to be compared with: how much it computed
    counts, too."""
    grows = found.end.kind == record.LIMIT and found.growth
    leaks = tuple(str(g.place) for g in found.growth) if grows else None
    ran: Trial = bench.place.run(script, Edit("", (), source), found.asked or _PICTURES)
    return replace(ran, kind=found.end.kind, frames=found.pictures, leaks=leaks)


def proved(made: Answer, found: Record, script: Path, source: str, bench: Bench) -> Answer:
    """The answer with the first remedy that runs, as many pictures as this run was to take."""
    if not may_help(made):
        return made
    pictures = max(_PICTURES, min(found.asked or 0, _MOST))
    told = tried.proved(
        made, script, source, bench, pictures, before(found, script, source, bench)
    )
    if told.step and told.step.sure != PROVED and (plan := _by_plan(found, told.language)):
        return told.first(plan)
    return told


def _by_plan(found: Record, language: str) -> Step | None:
    """What makes it fit by the plan, several changes together, where no single one that was tried
    runs."""
    build = FIRMWARES.get(found.board.build)
    changes = of_record.cures(found, build) if build else []
    if len(changes) < _SEVERAL:
        return None
    return Step("plan", " ".join(c.text(language) for c in changes), COMPUTED)
