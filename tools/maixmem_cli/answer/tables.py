# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The tables of causes, remedies and words, as the files beside this one have them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maixmem_cli.answer.values import Facts, all_hold, sentence
from maixmem_cli.record.record import STAND_IN, Board
from maixmem_cli.text import toml
from maixmem_cli.text.language import ENGLISH

_COMMA = {"en": ", ", "zh": "、"}
#: how sure a cause is, or that a remedy helps
PROVED, COMPUTED, LIKELY, UNKNOWN = SURE = ("proved", "computed", "likely", "unknown")
SURE_OF_LOG = ("certain", "possible", "fine")  #: besides, of a message in a log


@functools.lru_cache(maxsize=None)
def _file(name: str) -> dict[str, Any]:
    return toml.read(Path(__file__).with_name(f"{name}.toml"))


@functools.lru_cache(maxsize=None)
def words(language: str) -> dict[str, str]:
    """The words of a language for values and labels; without one a value is shown as it is."""
    return {name: row[language] for name, row in _file("words").items() if language in row}


def board_text(board: Board, language: str = ENGLISH) -> str:
    """What a run was on: the name of an image, or that it was the stand-in."""
    if board.on != STAND_IN:
        return board.name
    return words(language)["stand_in"].format(name=board.name)


def said(row: Any, facts: Facts, language: str) -> str:
    """The sentence of a row in a language, the fullest whose values are known."""
    texts = row[language] if language in row else row[ENGLISH]
    return sentence(texts, facts, words(language), _COMMA[language])


def findings() -> dict[str, Any]:
    """{key: what a survey of a board finds wrong, and its steps}."""
    return _file("findings")


@dataclass(frozen=True)
class Cause:
    """One cause: the conditions under which it is that, and how sure it is then."""

    key: str
    when: tuple[str, ...]
    sure: str
    row: dict[str, Any]

    def text(self, facts: Facts, language: str) -> str:
        return said(self.row, facts, language)


@dataclass(frozen=True)
class Remedy:
    """One remedy. `when` it applies; `cost` to the user, the free ones first; `on` which
    platforms it exists; `tried`: by a changed script, else it is for a person to do."""

    key: str
    when: tuple[str, ...]
    cost: int
    on: tuple[str, ...]
    tried: bool
    row: dict[str, Any]

    def text(self, facts: Facts, language: str) -> str:
        return said(self.row, facts, language)

    def applies(self, facts: Facts) -> bool:
        """Whether the facts speak for it, on a board that has it."""
        board = facts.get("board", "k210")
        return (board in self.on or "all" in self.on) and all_hold(self.when, facts)


@functools.lru_cache(maxsize=None)
def causes() -> tuple[Cause, ...]:
    """All of them; the first that fits counts."""
    return tuple(
        Cause(key, tuple(row["when"]), row["sure"], row) for key, row in _file("causes").items()
    )


@functools.lru_cache(maxsize=None)
def remedies() -> dict[str, Remedy]:
    """{key: remedy}, the cheapest first."""
    rows = _file("remedies")
    made = {
        key: Remedy(
            key,
            tuple(row.get("when", ["never"])),
            row["cost"],
            tuple(row.get("on", ["k210"])),
            row.get("tried", False),
            row,
        )
        for key, row in rows.items()
    }
    return dict(sorted(made.items(), key=lambda item: item[1].cost))


def remedy_text(key: str, language: str = ENGLISH, **values: Any) -> str:
    """The sentence of a remedy with these values."""
    return remedies()[key].text(values, language)
