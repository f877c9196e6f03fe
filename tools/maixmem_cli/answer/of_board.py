# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a survey of a board finds, as answers: of the table in findings.toml, or in the words of
the board's own library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maixmem_cli.answer import tables
from maixmem_cli.answer.answer import PROVED, Answer, Step


def finding(key: str, language: str, more: Sequence[str] = (), **values: Any) -> Answer:
    """A finding of the table with these values. `more`: steps from elsewhere, before its own."""
    row = tables.findings()[key]
    own = [tables.said(step, values, language) for step in row["steps"]]
    steps = [Step(key, text, PROVED) for text in (*more, *own)]
    return Answer(
        tables.said(row["what"], values, language),
        PROVED,
        key,
        step=steps[0] if steps else None,
        others=tuple(steps[1:]),
        language=language,
    )


def of_words(what: str, steps: Sequence[str], language: str) -> Answer:
    """What the library on the board says, with its steps."""
    own = [Step("board", text, PROVED) for text in steps]
    return Answer(
        what,
        PROVED,
        "board",
        step=own[0] if own else None,
        others=tuple(own[1:]),
        language=language,
    )
