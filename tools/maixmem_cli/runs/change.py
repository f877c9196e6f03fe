# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A change of a script, with what it changes of the board."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Edit:
    """One change: its kind, words for people, the whole script with it, and what else of the board
    is another: files on its card, addresses of models whose words are turned around, the
    firmware, the GC heap that it restarts with."""

    kind: str
    text: str
    source: str
    card: tuple[tuple[str, Path], ...] = ()
    turned: tuple[int, ...] = ()
    firmware: str = ""
    gc_heap: int = 0

    @property
    def of_board(self) -> bool:
        """Whether more than the script is another."""
        return bool(self.card or self.turned or self.firmware or self.gc_heap)
