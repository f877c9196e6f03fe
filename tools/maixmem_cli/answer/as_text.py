# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""An answer for a terminal: six lines at most, the other steps below; and read back from a log."""

from __future__ import annotations

import functools
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
    rows = [row for row in map(_labelled, text.splitlines()) if row]
    begins = [i for i, (_, name, _) in enumerate(rows) if name == "Cause"]
    for begin, end in zip(reversed(begins), [len(rows), *reversed(begins)]):
        answer = _read(rows[begin:end])
        if answer.step:
            return answer
    return None


def _labelled(line: str) -> tuple[str, str, str] | None:
    """(language, label, text) of a line of an answer."""
    labels, pattern = _labels()
    found = pattern.match(line)
    return (*labels[found[1]], line[found.end() :].rstrip()) if found else None


@functools.cache
def _labels() -> tuple[dict[str, tuple[str, str]], re.Pattern[str]]:
    """{label in its language: (language, label)}, and what a line that has one begins with."""
    labels = {label(name, lang): (lang, name) for lang in LANGUAGES for name in _LABELS}
    return labels, re.compile("(?:maixmem: )?(" + "|".join(map(re.escape, labels)) + ")")


def _read(rows: list[tuple[str, str, str]]) -> Answer:
    """One answer of its lines, the first of which is the cause."""
    language, _, cause = rows[0]
    said: dict[str, str] = {}
    for _, name, text in rows:
        said.setdefault(name, text)
    cause, sure = _sure(cause, language)
    others = [text for _, name, text in rows if name == "Or"]
    return Answer(
        cause,
        sure,
        at=said.get("Where", ""),
        step=Step("", said["Do this"]) if "Do this" in said else None,
        numbers=tuple(filter(None, (said.get("Numbers"),))),
        proof=said.get("Proof", ""),
        others=tuple(Step("", text) for text in dict.fromkeys(others)),
        language=language,
    )


def _sure(cause: str, language: str) -> tuple[str, str]:
    """A cause without the words for how sure it is, and how sure."""
    words = tables.words(language)
    for sure in (*tables.SURE, *tables.SURE_OF_LOG):
        told = words[f"sure_{sure}"]
        if told and cause.endswith(told):
            return cause.removesuffix(told), sure
    return cause, tables.PROVED
