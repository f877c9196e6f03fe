# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The areas of a GC heap as micropython.mem_info(1) prints them (py/gc.c, gc_dump_alloc_table):
64 letters a line, one a block, "(n lines all free)" for many lines of dots."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

from maixmem_cli.heap.blocks import FREE, HEAD, MARKED, TAIL, sizes

_COLUMNS = 64
_AREA = re.compile(r"layout; from (?:0x)?([0-9a-fA-F]+)")
_GAP = re.compile(r"\((\d+) lines? all free")
_LINE = re.compile(r"(?:0x)?[0-9a-fA-F]+: (\S+)$")
_TOTAL = re.compile(r"GC: total: (\d+), used: (\d+), free: (\d+)")
_STATES = {".": FREE, "=": TAIL, "m": MARKED}


@dataclass(frozen=True)
class Area:
    """Blocks from an address on, one byte of state each."""

    pool: int
    states: bytes
    block: int

    @property
    def end(self) -> int:
        return self.pool + len(self.states) * self.block

    @property
    def free_runs(self) -> list[int]:
        """Bytes of each run of free blocks."""
        groups = ((state, sum(1 for _ in run)) for state, run in groupby(self.states))
        return [n * self.block for state, n in groups if state == FREE]

    @property
    def sizes(self) -> dict[int, int]:
        """{address: bytes} of what is in use."""
        return sizes(self.states, self.pool, self.block)


def areas(text: str, block: int) -> list[Area]:
    """Every area of the heap. ValueError: this is no such text, or a part of it is missing."""
    found: list[tuple[int, bytearray]] = []
    for line in text.splitlines():
        area, gap, row = _AREA.search(line), _GAP.search(line), _LINE.match(line)
        if area:
            found.append((int(area[1], 16), bytearray()))
        elif found and gap:
            found[-1][1].extend(bytes(int(gap[1]) * _COLUMNS))
        elif found and row:
            found[-1][1].extend(_STATES.get(c, HEAD) for c in row[1])
    if not found:
        raise ValueError("no table of blocks in what micropython.mem_info(1) printed")
    total = _TOTAL.search(text)
    blocks = sum(len(states) for _, states in found)
    if total and blocks != int(total[1]) // block:
        raise ValueError(
            f"micropython.mem_info(1) printed {blocks} blocks of {int(total[1]) // block}"
        )
    return [Area(pool, bytes(states), block) for pool, states in found]
