# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""An answer for a terminal: six lines at most, the other steps below; and read back from a log."""

from __future__ import annotations

import re
from collections.abc import Iterator

from maixmem_cli.answer import tables
from maixmem_cli.answer.answer import Answer, Step
from maixmem_cli.text.language import LANGUAGES

_OTHERS = 3  # that are shown where not all are wanted
_LABELS = ("Cause", "Do this", "Where", "Numbers", "Proof", "Or")


def label(name: str, language: str) -> str:
    """A label of an answer in a language, with its colon."""
    words = tables.words(language)
    return words.get(name, name) + words["colon"]


def lines(of: Answer, *, others: int = _OTHERS) -> list[str]:
    """The lines: cause, step, where, numbers, proof; then so many of the others."""
    return [*head(of), *_others(of, others)]


def head(of: Answer) -> list[str]:
    """All but the other steps."""
    words = tables.words(of.language)
    found = []
    if of.cause:
        found.append(label("Cause", of.language) + of.cause + words[f"sure_{of.sure}"])
    if of.step:
        found.append(label("Do this", of.language) + of.step.text)
    if of.at and of.at not in of.cause:
        found.append(label("Where", of.language) + of.at)
    if of.numbers:
        found.append(label("Numbers", of.language) + "; ".join(of.numbers))
    if of.proof:
        found.append(label("Proof", of.language) + of.proof)
    return found


def steps(of: Answer) -> list[str]:
    """What to do, all of it."""
    first = [label("Do this", of.language) + of.step.text] if of.step else []
    return [*first, *_others(of, len(of.others))]


def _others(of: Answer, count: int) -> Iterator[str]:
    for step in of.others[:count]:
        yield label("Or", of.language) + step.text


def read(text: str) -> Answer | None:
    """The last answer in a log that a command of ours printed; None: it has none."""
    for language in LANGUAGES:
        found: dict[str, list[str]] = {}
        for name in _LABELS:
            pattern = rf"^(?:maixmem: )?{re.escape(label(name, language))}(.+?)\s*$"
            found[name] = re.findall(pattern, text, re.MULTILINE)
        if found["Cause"] and found["Do this"]:
            last = {name: (told[-1] if told else "") for name, told in found.items()}
            others = tuple(Step("", other) for other in dict.fromkeys(found["Or"]))
            return Answer(
                last["Cause"],
                tables.PROVED,
                at=last["Where"],
                step=Step("", last["Do this"]),
                numbers=tuple(filter(None, (last["Numbers"],))),
                proof=last["Proof"],
                others=others,
                language=language,
            )
    return None
