# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One answer: the cause in a sentence, one step first, where, the numbers, whether a run proved
it; the other remedies behind it. docs/answer.md has its JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from maixmem_cli.answer import tables
from maixmem_cli.answer.tables import COMPUTED, LIKELY, PROVED, UNKNOWN
from maixmem_cli.answer.values import Facts, all_hold
from maixmem_cli.text.language import ENGLISH

VERSION = 1  #: of the JSON: it is raised when a field changes its meaning or goes


@dataclass(frozen=True)
class Step:
    """What to do: a remedy of the table (`key`), its sentence, how sure it is that it helps, and
    where it was tried the change itself, as a diff."""

    key: str
    text: str
    sure: str = LIKELY
    diff: str = ""


@dataclass(frozen=True)
class Answer:
    """`cause` and how `sure`; `at`: the line; `step`: what to do first; `numbers`: lines; `proof`:
    what a run showed of it; `others`: further steps; `facts` it follows from."""

    cause: str
    sure: str = UNKNOWN
    key: str = ""  #: of the cause
    at: str = ""
    step: Step | None = None
    numbers: tuple[str, ...] = ()
    proof: str = ""
    others: tuple[Step, ...] = ()
    language: str = ENGLISH
    facts: dict[str, Any] = field(default_factory=dict, compare=False)

    def first(self, step: Step, proof: str = "") -> Answer:
        """The same with another step first; those before it go behind it."""
        rest = (s for s in (self.step, *self.others) if s and s.key != step.key)
        return replace(self, step=step, proof=proof or self.proof, others=tuple(rest))


def answer(facts: Facts, language: str = ENGLISH, *, numbers: Sequence[str] = ()) -> Answer:
    """What these facts say."""
    cause = next((c for c in tables.causes() if all_hold(c.when, facts)), None)
    fitting = (r for r in tables.remedies().values() if r.applies(facts))
    texts = ((r.key, r.text(facts, language)) for r in fitting)
    steps = [Step(key, text) for key, text in texts if text]
    return Answer(
        cause.text(facts, language) if cause else "",
        cause.sure if cause else UNKNOWN,
        cause.key if cause else "",
        str(facts.get("at", "")),
        steps[0] if steps else None,
        tuple(numbers),
        others=tuple(steps[1:]),
        language=language,
        facts=dict(facts),
    )


__all__ = ["COMPUTED", "LIKELY", "PROVED", "UNKNOWN", "VERSION", "Answer", "Step", "answer"]
