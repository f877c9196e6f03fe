# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The names of files and functions in a running MicroPython 1.11: its chain of string pools.

py/qstr.h: a pool is (the pool before it or null, how many strings those before it have, allocated,
length, pointers). A string is its hash, its length, its text and a zero byte; how many bytes hash
and length take is the port's choice, so what fits the strings of the first pool is taken.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator

from k210_model.heap import RAM_START

from maixmem_cli.heap import heaps
from maixmem_cli.heap.pools import MOST_POOLS, WIDTHS

_FIRST = range(100, 10000)  # strings of the interpreter itself
_LOOKED_AT = 64


class Qstrs:
    """Strings by their number, as RAM has them now. `state`: from where to where the interpreter's
    state is, which points to the last pool: then it need not be looked for in all of RAM."""

    def __init__(self, ram: heaps.Ram, state: tuple[int, int] = (0, 0)) -> None:
        self._state = state
        self._ram = bytes(ram[: heaps.RAM_END - RAM_START])
        self._words = array("Q", self._ram)
        self._pools: list[
            tuple[int, int, int]
        ] = []  # (first number, length, index of the first pointer)
        self._layout = (2, 1)
        self._find()

    def text(self, number: int) -> str:
        """The string, or "?" when no pool has it."""
        for first, length, at in self._pools:
            if first <= number < first + length:
                return self._string(self._words[at + number - first], self._layout) or "?"
        return "?"

    def _string(self, address: int, layout: tuple[int, int]) -> str | None:
        hashed, counted = layout
        at = address - RAM_START + hashed
        if not 0 <= at < len(self._ram) - 300:
            return None
        length = int.from_bytes(self._ram[at : at + counted], "little")
        at += counted
        if at + length >= len(self._ram) or self._ram[at + length]:
            return None
        try:
            return self._ram[at : at + length].decode()
        except UnicodeDecodeError:
            return None

    def _find(self) -> None:
        for at, length in self._firsts():
            pointers = self._words[at + 5 : at + 5 + _LOOKED_AT]
            for layout in WIDTHS:
                texts = [self._string(p, layout) for p in pointers]
                if sum(bool(t) for t in texts) > 0.9 * len(texts):
                    self._layout = layout
                    self._pools.append((0, length, at + 4))
                    self._pools += self._from_last(at) or self._following(at, length)
                    return

    def _firsts(self) -> Iterator[tuple[int, int]]:
        w = self._words
        return (
            (i, w[i + 3])
            for i in range(len(w) - 8)
            if w[i] == 0
            and w[i + 1] == 0
            and 0 < w[i + 2] < 4096
            and w[i + 3] in _FIRST
            and w[i + 4] >= RAM_START
        )

    def _from_last(self, first: int) -> list[tuple[int, int, int]]:
        """Back from the last pool to the first."""
        first_word, books = self._state
        for address in range(first_word, books, 8) if first_word else ():
            at = (self._words[(address - RAM_START) // 8] - RAM_START) // 8
            found: list[tuple[int, int, int]] = []
            while first != at and 0 < at < len(self._words) - 4 and len(found) < MOST_POOLS:
                before, total, _, length = self._words[at : at + 4]
                found.append((total, length, at + 4))
                at = (before - RAM_START) // 8
            if first == at and found and found[-1][0] == self._pools[0][1]:
                return found
        return []

    def _following(self, at: int, total: int) -> list[tuple[int, int, int]]:
        """Each next pool points to the one before it and knows how many strings come first."""
        pools: list[tuple[int, int, int]] = []
        while True:
            head = struct.pack("<QQ", RAM_START + 8 * at, total)
            found = self._ram.find(head)
            while found >= 0 and (found % 8 or not 0 < self._words[found // 8 + 3] <= 1 << 16):
                found = self._ram.find(head, found + 1)
            if found < 0:
                return pools
            at = found // 8
            pools.append((total, self._words[at + 3], at + 4))
            total += pools[-1][1]


def exit_value(ram: heaps.Ram, value: int | None, text: int) -> tuple[int, str]:
    """Exit status and message of SystemExit(value), as CPython has them (`text`: the type str);
    py/obj.h: a number ends in bit 0, a name in bit 1."""
    if value is None:
        return 0, ""
    if value & 1:
        return (value >> 1) & 0xFF, ""
    if value & 3 == 2:
        return 1, Qstrs(ram).text(value >> 2) + "\n"
    if not RAM_START <= value < heaps.RAM_END - 32:
        return 1, ""
    kind, _, length, at = struct.unpack_from("<4Q", ram, value - RAM_START)
    if kind == text and RAM_START <= at < heaps.RAM_END - length:
        return 1, bytes(ram[at - RAM_START : at - RAM_START + length]).decode(
            errors="replace"
        ) + "\n"
    return 0, ""  # None, and what is no text
