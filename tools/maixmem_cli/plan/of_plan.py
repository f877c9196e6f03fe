# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The answer to a project that does not fit: its first finding, and the cheapest changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from maixmem_report import kib

from maixmem_cli.answer.answer import COMPUTED, Answer, Step, answer
from maixmem_cli.answer.tables import words
from maixmem_cli.answer.values import Bytes, Value
from maixmem_cli.plan import maixcam2
from maixmem_cli.plan.changes import Change
from maixmem_cli.plan.fit import Fit
from maixmem_cli.plan.tried import less

_PLAN = "plan"  # how it "ended": it was computed


def of_fit(plan: Fit, changes: Sequence[Change], after: Fit | None, language: str) -> Answer:
    """`changes` and what the plan is `after` them; None: none of those that were tried helps."""
    known = _facts(plan)
    made = replace(answer(known, language), step=None, others=())
    if after is None:
        return replace(made, step=less(known, language))
    left = {"heap": kib(after.peak("heap")), "gc": kib(after.peak("gc"))}
    step = Step(_PLAN, " ".join(c.text(language) for c in changes), COMPUTED)
    return made.first(step, words(language)["leaves"].format(**left))


def _facts(plan: Fit) -> dict[str, Value]:
    """The first thing that is wrong."""
    project = plan.project
    found: dict[str, Value] = {"board": "k210", "end": _PLAN}
    if project.models:
        found["loads"] = "yes"
    if project.camera:
        found["frame"] = project.camera.size
    full = next((s for s in plan.steps if not s.fits), None)
    if plan.refused or plan.flash:
        found["wrong"] = (plan.refused or plan.flash)[0]
    elif full:
        sizes = {"requested": Bytes(full.peak), "free": Bytes(full.free)}
        found.update(heap=full.region, what=full.what, **sizes)
    elif plan.dies:
        name, last = min(plan.dies.items(), key=lambda row: row[1])
        found.update(grows_at=name, grows_dies=last)
    return found


def of_maixcam2(plan: maixcam2.Plan, language: str) -> Answer:
    """The same of a MaixCAM2's carve-out."""
    need, mib = plan.in_turn, plan.cmm_that_fits
    known: dict[str, Value] = {
        "board": maixcam2.BOARD,
        "end": _PLAN,
        "cmm": Bytes(plan.cmm),
        "cmm_wanted": Bytes(need.cmm),
        "linux": Bytes(plan.linux),
        "linux_wanted": Bytes(need.heap),
    }
    if mib is not None:
        known["cmm_mib"] = mib
    return answer(known, language)
