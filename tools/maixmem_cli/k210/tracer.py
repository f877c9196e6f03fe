# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Allocations of a running board as they happen: hooks are set, events come out of two files.

The time of an event is instructions of both cores: KPU, flash and DMA take no emulated time.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from maixmem_cli.k210 import heaps
from maixmem_cli.k210.board import Board
from maixmem_cli.k210.knowledge import Knowledge
from maixmem_cli.k210.qstrs import Qstrs

MALLOC, FREE, REALLOC, RAISED, ASK, MARK, FRAME = range(1, 8)
GC_NEW, GC_GROW, GC_FREE = 16, 17, 18
_KINDS = {"malloc": MALLOC, "free": FREE, "realloc": REALLOC}
_EVENT = struct.Struct("<QIIQQQ")
NOWHERE = 0  #: the site of what no Python line asked for
_SITES_FULL = _LOW = 0xFFFFFFFF


@dataclass(frozen=True)
class Place:
    """A line of Python that is being run; line 0 where the code has no line table."""

    file: str
    function: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line or '?'} {self.function}"


class Event(NamedTuple):
    """One event. malloc and realloc: `a` the block they gave (0: none), `asked`, `old`, `size` of the whole chunk;
    free: `a` the block. RAISED: `a` the type, `asked` how many arguments, `end` the first. GC_*: `a` the first block's number, `asked` how many, in `end` objects. MARK: `a` which. `end`: of the arena."""

    time: int
    kind: int
    site: int
    a: int
    asked: int
    old: int = 0
    end: int = 0
    size: int = 0


# Needs the board paused or at its prompt while it is set and read.
class Tracer:
    """The hooks of one board."""

    def __init__(self, board: Board, known: Knowledge, folder: Path) -> None:
        self._board = board
        self._known = known
        self._events = folder / "events"
        self._sites = folder / "sites"
        self._started = False

    def start(self, finder: heaps.Finder, *, gc: bool) -> None:
        """Sets the hooks; with `gc` also watches the GC heap's table, which costs a little with every store."""
        order = self._board.order
        ram = self._board.ram
        order(f"trace files {self._events} {self._sites}")
        self._started = True
        finder.system(ram)
        order(f"trace top {finder.top_pointer:x}")
        for name, address in self._known.functions.items():
            order(f"trace hook {_KINDS[name]} {address:x} 0")
        if self._known.bytecode is not None:
            order(f"trace hook {FRAME} {self._known.bytecode:x} 0")
        for number, (kind, address) in enumerate(self._known.marks, 1):
            if kind == "input":
                order(f"trace hook {ASK} {address:x} 0")
            elif gc:
                order(f"trace hook {MARK} {address:x} {number}")
        if gc:
            heap = finder.gc(ram)
            order(f"trace gc {heap.table:x} {heap.table_bytes}")

    def where(self) -> None:
        """Adds an event that says where the board is now; what was traced can be read after it."""
        self._board.order("trace where")

    def stop(self) -> None:
        self._board.order("trace end")

    def raised(self) -> tuple[int, int | None]:
        """Type and first argument of the exception that ended the script; (0, None) when none did or nothing was traced."""
        if not self._started:
            return (0, None)
        self.where()
        ended: tuple[int, int | None] = (0, None)
        for event in self.events():
            if event.kind == RAISED:
                ended = (event.a, event.end if event.asked else None)
        return ended

    def events(self) -> Iterator[Event]:
        """Everything that was traced up to now."""
        with self._events.open("rb") as f:
            while block := f.read(_EVENT.size * 4096):
                whole = len(block) // _EVENT.size * _EVENT.size
                for time, kind, site, a, b, c in _EVENT.iter_unpack(block[:whole]):
                    if kind in (MALLOC, REALLOC):
                        yield Event(time, kind, site, a, b & _LOW, b >> 32, c & _LOW, c >> 32)
                    else:
                        yield Event(time, kind, site, a, b, 0, c)

    def stacks(self, names: Qstrs) -> dict[int, tuple[Place, ...]]:
        """Site -> the lines that were being run, the innermost first."""
        out: dict[int, tuple[Place, ...]] = {NOWHERE: (), _SITES_FULL: ()}
        for text in self._sites.read_text().splitlines():
            number, *places = text.split()
            stack = []
            for place in places:
                file, function, line = map(int, place.split(":"))
                stack.append(Place(names.text(file), names.text(function), line))
            out[int(number)] = tuple(stack)
        return out
