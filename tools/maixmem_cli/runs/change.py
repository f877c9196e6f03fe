# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A change of a script, with what it changes of the board."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maixmem_cli.answer.tables import remedy_text
from maixmem_cli.answer.values import Facts, Value
from maixmem_cli.text.language import ENGLISH

Values = tuple[tuple[str, Value], ...]


def values_of(**values: Any) -> Values:
    """The values of a remedy's sentence, as an edit keeps them."""
    return tuple(values.items())


@dataclass(frozen=True)
class Edit:
    """One change: its kind, which is the key of a remedy, the values of that one's sentence, the
    whole script with it, and what else of the board is another: files on its card, addresses of
    models whose words are turned around, the firmware, the GC heap that it restarts with. `steps`:
    the changes that it is of, in order, where it is several together."""

    kind: str
    values: Values
    source: str
    card: tuple[tuple[str, Path], ...] = ()
    turned: tuple[int, ...] = ()
    firmware: str = ""
    gc_heap: int = 0
    steps: tuple[Edit, ...] = ()

    def text(self, language: str = ENGLISH, facts: Facts | None = None) -> str:
        """The sentence of its remedy, with what else is known; of several, numbered."""
        if self.steps:
            texts = (step.text(language, facts) for step in self.steps)
            return " ".join(f"{i}. {text}" for i, text in enumerate(texts, 1))
        return remedy_text(self.kind, language, **{**(facts or {}), **dict(self.values)})

    @property
    def of_board(self) -> bool:
        """Whether more than the script is another."""
        return bool(self.card or self.turned or self.firmware or self.gc_heap)
