# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a pasted log says, as answers: each message's cause with the step that fits first."""

from __future__ import annotations

from maixmem_cli.answer import as_text
from maixmem_cli.answer.answer import Answer, Step
from maixmem_cli.errors import log


def answers(found: log.Explained) -> list[Answer]:
    """One for each thing that is wrong, the first cause first; where nothing is, what the lines
    mean."""
    return [_answer(found, one) for one in found.shown]


def _answer(found: log.Explained, one: log.Answer) -> Answer:
    sure = one.sure if one.row.kind == "error" else "fine"
    steps = [Step(f"{one.row.id}-{i}", text, sure) for i, text in enumerate(one.steps, 1)]
    return Answer(
        one.means,
        sure,
        one.row.id,
        step=steps[0] if steps else None,
        numbers=tuple(n for n in one.numbers if n != one.means),
        others=tuple(steps[1:]),
        language=found.language,
        facts={"board": found.board, "lines": one.lines, "line": one.line, **found.facts},
    )


def of_ours(text: str) -> Answer | None:
    """The answer that a command of maixmem printed into this log, if it did."""
    return as_text.read(text)
