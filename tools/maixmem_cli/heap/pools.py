# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Names read from memory, for a board that gives none: the interpreter's chain of string pools.

py/qstr.h: a pool is (the one before it or null, how many strings those before it have, room,
length), since 1.19 tables of hashes and of lengths, then a pointer for each string. Up to 1.18 a
string has its hash and its length in front of its text. How many bytes these take is the port's
choice: the hash tells which is right.
"""

from __future__ import annotations

from maixmem_cli.heap.layout import Layout
from maixmem_cli.heap.memory import Memory, Range

WIDTHS = ((2, 1), (1, 1), (2, 2), (1, 2))  # bytes of hash and of length
MOST_POOLS = 64
_MOST_STRINGS = 1 << 14
_LONGEST = 256  # bytes


# Reads from a memory that may bring its pages later: what is missing is "?" until then.
class Pools:
    """Names by their number, once find() has found them. `state`: where the interpreter's
    state is, which points to the last pool."""

    def __init__(self, memory: Memory, layout: Layout, state: Range) -> None:
        self._memory, self._layout, self._state = memory, layout, state
        self._found: list[tuple[int, int]] = []  # first number, address; the last pool first
        self._separate = layout.separate_names
        self.texts: dict[int, str] = {}

    def text(self, number: int) -> str:
        """The name of this number, or "?"."""
        if number not in self.texts:
            text = self._read(number)
            if text is None:
                return "?"
            self.texts[number] = text
        return self.texts[number]

    def _read(self, number: int) -> str | None:
        w = self._layout.word
        for first, pool in self._found:
            if first <= number < first + self._memory.word(pool + 3 * w):
                i = number - first
                at = self._memory.word(pool + ((6 if self._separate else 4) + i) * w)
                return self._behind_tables(pool, i, at) if self._separate else self._in_front(at)
        return None

    def find(self) -> bool:
        """The pools in what has come of the memory; whether it has any. To be called again
        until its pages have come."""
        w = self._layout.word
        words = sorted({self._memory.word(at) for at in range(*self._state, w)})
        self._found = max(map(self._back_from, words), key=len, default=[])
        return bool(self._found)

    def _back_from(self, at: int) -> list[tuple[int, int]]:
        """From a last pool to the first; nothing where this is none."""
        w = self._layout.word
        out: list[tuple[int, int]] = []
        behind: int | None = None
        while at and not at % w and len(out) < MOST_POOLS:
            before, total, room, length = (self._memory.word(at + k * w) for k in range(4))
            first = total & (1 << 8 * w - 1) - 1  # the highest bit: its strings are sorted
            ends = first + length
            if not (0 < length <= _MOST_STRINGS and 0 < room <= _MOST_STRINGS):
                return []
            if behind not in (None, ends):
                return []
            if bool(first) != bool(before):
                return []
            out.append((first, at))
            at, behind = before, first
        return out

    def _in_front(self, at: int) -> str | None:
        for hashed, counted in WIDTHS:
            head = self._memory.read(at, hashed + counted)
            length = int.from_bytes(head[hashed:], "little")
            if length > _LONGEST:
                continue
            data = self._memory.read(at + hashed + counted, length + 1)
            right = hash_of(data[:-1], hashed) == int.from_bytes(head[:hashed], "little")
            if right and not data[-1]:
                return _decoded(data[:-1])
        return None

    def _behind_tables(self, pool: int, i: int, at: int) -> str | None:
        w = self._layout.word
        hashes, lengths = (self._memory.word(pool + k * w) for k in (4, 5))
        for hashed, counted in WIDTHS:
            stored = int.from_bytes(self._memory.read(hashes + i * hashed, hashed), "little")
            length = int.from_bytes(self._memory.read(lengths + i * counted, counted), "little")
            if length > _LONGEST:
                continue
            data = self._memory.read(at, length + 1)
            if hash_of(data[:-1], hashed) == stored and not data[-1]:
                return _decoded(data[:-1])
        return None


def hash_of(text: bytes, nbytes: int) -> int:
    """As py/qstr.c computes it for a table with so many bytes of it."""
    n = 5381
    for byte in text:
        n = n * 33 & 0xFFFFFFFF ^ byte
    return n & (1 << 8 * nbytes) - 1 or 1


def _decoded(text: bytes) -> str | None:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None
