# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The answer to a run of a script: its facts, its cause, and the remedy that was tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from maixmem_cli.answer import facts, of_message
from maixmem_cli.answer.answer import COMPUTED, PROVED, Answer, Step, answer
from maixmem_cli.answer.tables import remedies
from maixmem_cli.errors.files import say
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.plan import of_record, tried
from maixmem_cli.plan.tried import Bench, Tried
from maixmem_cli.record import record
from maixmem_cli.record.record import Record

_SEVERAL = 2  # changes of a plan: each alone was tried


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
    if found.lacked:
        return True
    if found.end.kind in (record.DONE, record.INTERRUPTED):
        return found.end.overflow or bool(found.end.refused and found.end.caught)
    return not found.ends_well


def proved(made: Answer, found: Record, script: Path, source: str, bench: Bench) -> Answer:
    """The answer with the first remedy that runs, as many pictures as this run was to take."""
    return next(tried for tried in proofs(made, found, script, source, bench) if tried)[1]


def proofs(
    made: Answer, found: Record, script: Path, source: str, bench: Bench
) -> Iterator[Tried]:
    """As proved(), one change tried at each step: None, as long as none of them runs."""
    if not may_help(made):
        yield None, made
        return
    for each in tried.proofs(made, script, source, bench, found):
        if each and each[0] is None and each[1].step:
            plan = _by_plan(found, made.language)
            each = None, each[1].first(plan) if plan else each[1]
        yield each


def _by_plan(found: Record, language: str) -> Step | None:
    """What makes it fit by the plan, several changes together, where no single one that was tried
    runs."""
    build = FIRMWARES.get(found.board.build)
    changes = of_record.cures(found, build) if build else []
    if len(changes) < _SEVERAL:
        return None
    return Step("plan", " ".join(c.text(language) for c in changes), COMPUTED)
