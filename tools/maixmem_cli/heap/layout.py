# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How an interpreter lays out what it keeps: words, blocks, which words are numbers and names, and
where a function's parts are.

Sources: MicroPython's py/obj.h (representations), py/gc.c (a block is four words), py/objfun.h and
py/bc.h (before 1.19 a function has its globals, bytecode, constants; since then its module's
context, child table, bytecode).
"""

from __future__ import annotations

from dataclasses import dataclass

BLOCK_WORDS = 4
_CONTEXT = (1, 19)  # of MicroPython: functions with a module's context
_TABLES = (1, 19)  # tables of the hashes and lengths of names
_PRELUDE = (1, 12)  # bytecode whose first bytes share their bits


@dataclass(frozen=True)
class Representation:
    """Which words are numbers and which names: of those that have these bits under the mask, the
    ones above the shift are the number, or the number of the name."""

    number: tuple[int, int, int]  #: mask, bits, shift
    name: tuple[int, int, int]


#: by the word of the name "", whose number is 1
REPRESENTATIONS = {
    6: Representation((1, 1, 1), (3, 2, 2)),  # A, up to 1.12
    10: Representation((1, 1, 1), (7, 2, 3)),  # A since
    7: Representation((3, 1, 2), (3, 3, 2)),  # B, up to 1.12
    11: Representation((3, 1, 2), (7, 3, 3)),  # B since
    14: Representation((1, 1, 1), (0xFF800007, 6, 3)),  # C, up to 1.12
    22: Representation((1, 1, 1), (0xFF80000F, 6, 4)),  # C since
}


@dataclass(frozen=True)
class Layout:
    """`word`: bytes of a pointer. `empty`: the word of the name "". `version` of MicroPython, by
    which functions differ."""

    word: int = 8
    empty: int = 6
    version: tuple[int, int] = (1, 11)

    @property
    def block(self) -> int:
        """Bytes of a block of the GC heap."""
        return BLOCK_WORDS * self.word

    @property
    def with_context(self) -> bool:
        return self.version >= _CONTEXT

    @property
    def separate_names(self) -> bool:
        """Whether hashes and lengths of names are in tables of their own."""
        return self.version >= _TABLES

    @property
    def short_prelude(self) -> bool:
        return self.version >= _PRELUDE

    def number(self, value: int) -> int | None:
        """The number that a word is, or None."""
        mask, bits, shift = REPRESENTATIONS[self.empty].number
        if value & mask != bits:
            return None
        n = 8 * self.word
        return (value if value < 1 << n - 1 else value - (1 << n)) >> shift

    def name(self, value: int) -> int | None:
        """The number of the name that a word is, or None."""
        mask, bits, shift = REPRESENTATIONS[self.empty].name
        return value >> shift if value & mask == bits else None

    def name_word(self, number: int) -> int:
        """The word of a name."""
        _, bits, shift = REPRESENTATIONS[self.empty].name
        return number << shift | bits
