# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the table of errors says of a message, as steps of an answer."""

from __future__ import annotations

from maixmem_cli.answer.answer import Step
from maixmem_cli.answer.values import Facts
from maixmem_cli.errors import log


def steps(facts: Facts, language: str) -> list[Step]:
    """The steps of the row of an error; none where its remedies are this room's own: a heap that
    got nothing, what the run did not have."""
    error, row = facts.get("error"), str(facts.get("row", ""))
    own = not facts.keys().isdisjoint(("heap", "missing", "of_text", "model_w"))
    known = None if own or not error else log.of_line(str(error), str(facts["board"]), language)
    return [Step(row, text) for text in (known.steps if known else ())]
