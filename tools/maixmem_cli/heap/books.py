# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The areas of a GC heap by the interpreter's own books, for firmware that prints no table:
py/gc.c keeps for each area the table's start and its length, tables of other bits where it has
these, the pool's start and its end; before them, where there can be several areas, the
next one."""

from __future__ import annotations

from dataclasses import dataclass

from maixmem_cli.heap.memory import Memory, Range

_LEAST, _MOST = 64, 1 << 20  # bytes of a table
_BETWEEN = range(3)  # other tables: of finalisers, of what need not be collected


@dataclass(frozen=True)
class Books:
    """Of one area."""

    table: int
    length: int
    pool: int
    end: int


def find(memory: Memory, state: Range, total: int, block: int) -> list[Books]:
    """Of every area, where together they have so many bytes, or fewer where the heap may grow by
    more areas; else nothing. To be called again where memory is missed."""
    w = memory.size
    for at in range(state[0] + w, state[1] - 6 * w, w):
        found, last = _chain(memory, at, block)
        nbytes = sum(b.end - b.pool for b in found)
        if found and (nbytes == total or (last and nbytes < total)):
            return found
    return []


def _chain(memory: Memory, at: int, block: int) -> tuple[list[Books], bool]:
    """The area here and those that it leads to; whether the last one says that it is."""
    found: list[Books] = []
    while True:
        here = _area(memory, at, block)
        if not here or here in found:
            return found, False
        found.append(here)
        following = memory.word(at - memory.size)
        if not following or following % memory.size:
            return found, not following
        at = following + memory.size


def _area(memory: Memory, at: int, block: int) -> Books | None:
    w = memory.size
    table, length = memory.word(at), memory.word(at + w)
    if not (table and not table % w and _LEAST <= length < _MOST):
        return None
    for others in _BETWEEN:
        pool, end = (memory.word(at + (2 + others + k) * w) for k in (0, 1))
        if table + length <= pool < end and end - pool == 4 * length * block:
            return Books(table, length, pool, end)
    return None
