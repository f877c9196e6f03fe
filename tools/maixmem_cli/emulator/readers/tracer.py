# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Allocations of a running board as they happen: hooks are set, events go to a file.

The time of an event is instructions of both cores: KPU, flash and DMA take no emulated time.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, NamedTuple

from maixmem_cli.emulator.board import EVENT, Board
from maixmem_cli.emulator.readers.knowledge import Knowledge
from maixmem_cli.heap import heaps
from maixmem_cli.heap.qstrs import Qstrs

MALLOC, FREE, REALLOC, RAISED, ASK, FRAME, PLACE, JUMP, LOOK, USED, DAMAGED = range(1, 12)
THROWN, TEXT, SLACK, CELL = range(12, 16)
GC_NEW, GC_GROW, GC_FREE = 16, 17, 18
MARK, COLLECT = 32, 64
_KINDS = {"malloc": MALLOC, "free": FREE, "realloc": REALLOC}
RAW_FILE = "<stdin>"  #: what the interpreter calls a script that came over the serial line
_COMPILED_THERE = {RAW_FILE, "<string>"}  # and what exec() and eval() run: they have lines
COMPREHENSIONS = {f"<{word}>" for word in ("listcomp", "dictcomp", "setcomp", "genexpr")}
NOWHERE = 0  #: the site of what no Python line asked for
_THREE = struct.Struct("<3Q")
_KIND = 8  # where in a record its kind is, a byte
_OF_USED = struct.Struct("<12xI24s")  # of USED, SLACK: where, and what
_ALIKE = re.compile(b"%c+|%c+|[^%c%c]+" % (USED, SLACK, USED, SLACK), re.DOTALL)
_OTHERS = (PLACE, LOOK, THROWN, TEXT)  # that are read in another way
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
    """One event. malloc and realloc: `a` the block they gave (0: none), `asked`, `old`, `size` of
    the whole chunk; free: `a` the block. RAISED: `a` the type, `asked` how many arguments, `end`
    the first. GC_*: `a` the first block's number, `asked` how many, in `end` objects. MARK: `a`
    which. `end`: of the arena. LOOK: `a` blocks are in use, which `used` says, two bits a block;
    `asked` the place of a loop's end (0: none), `end` how often it was reached, and `slack` of
    each object of more than one block, in their order, how many bytes of the last one are 0, a
    byte, and how many words before them, seven bits in a byte.
    CELL: the block `a`, of a variable that a function inside shares, is the site's.
    DAMAGED: a chunk's size at `a` becomes `asked`, or a stack's pointer `asked` is below it, by
    the instruction at `end`."""

    time: int
    kind: int
    site: int
    a: int
    asked: int
    old: int = 0
    end: int = 0
    size: int = 0
    used: bytes = b""
    slack: bytes = b""


class Thrown(NamedTuple):
    """An exception as it is raised, or goes on to who called: the object, the name of its type,
    its first argument, a number or a text, None where it is neither; the address of flash that
    was read last."""

    time: int
    site: int
    error: int
    name: str
    argument: int | str | None
    flash: int


class Tracer:
    """The hooks of one board."""

    def __init__(self, board: Board, known: Knowledge, folder: Path) -> None:
        self._board = board
        self._known = known
        self._path = folder / "events"
        self._file = self._path.open("wb")
        self._started = False
        self._read = 0  # bytes of the file, by new_looks()
        self._state = range(0)  # the interpreter's, words of RAM
        self._anew: Callable[[], None] = lambda: None
        self.depths: dict[int, int] = {}  #: of each site that stacks() found, comprehensions too
        self.began: tuple[heaps.SystemHeap, heaps.GcHeap]  #: both heaps then

    def start(
        self,
        finder: heaps.Finder,
        *,
        gc: bool,
        live: bool = False,
        guard: bool = False,
        marks: bool = False,
    ) -> None:
        """Sets the hooks; with `gc` also watches the GC heap's table, which costs a little with
        every store, and marks calls of the firmware, as with `marks` alone; with `live` looks at
        what is in use; with `guard` watches the heads of the chunks. NotFound."""
        board, ram = self._board, self._board.ram
        system = finder.system(ram)
        heap = finder.gc(ram)
        self.began = system, heap
        self._anew = lambda: self.start(finder, gc=gc, live=live, guard=guard, marks=marks)
        table, size = (heap.table, heap.table_bytes) if gc else (0, 0)
        board.trace(finder.top_pointer, table, size)
        board.events = self._file
        self._started = True
        self._state = range(self._known.state, finder.gc_state - 7 if self._known.state else 0, 8)
        for name, address in self._known.functions.items():
            board.hook(_KINDS[name], address)
        if self._known.bytecode is not None:
            board.hook(FRAME, self._known.bytecode)
        for number, (kind, address) in enumerate(self._known.marks, 1):
            if kind == "input":
                board.hook(ASK, address)
            elif gc or marks:
                board.hook((COLLECT if kind == "gc" else MARK) + number, address)
        if guard and all(name in self._known.functions for name in _KINDS):
            board.guard(system.base, finder.top_pointer)
        if live:
            board.live(self._known.state, finder.gc_state, self._known.threads)
            for address in self._known.jumps:
                board.hook(JUMP, address)
        if gc and self._known.raises is not None:
            board.hook(THROWN, self._known.raises)

    def again(self) -> None:
        """The board was reset, and is at its prompt: what was traced before is forgotten."""
        self._file.seek(0)
        self._file.truncate()
        self._read = 0
        self._anew()

    def written(self) -> int:
        """Bytes of events up to now."""
        return self._file.tell()

    def where(self) -> None:
        """Adds an event that says where the board is now; what was traced can be read after it."""
        self._board.where()

    def here(self) -> tuple[Place, ...]:
        """The lines that are being run now, the innermost first; () when none is, or nothing is
        traced."""
        if not self._started:
            return ()
        self.where()
        *_, last = (e for e in self.of(MARK) if not e.a)
        return self.stacks(Qstrs(self._board.ram)).get(last.site, ())

    def stop(self) -> None:
        self._board.untrace()

    def close(self) -> None:
        """The events are gone after it."""
        self._file.close()

    def raised(self) -> tuple[int, int | None]:
        """Type and first argument of the exception that ended the script; (0, None) when none did
        or nothing was traced."""
        if not self._started:
            return (0, None)
        self.where()
        ended: tuple[int, int | None] = (0, None)
        for event in self.of(RAISED):
            ended = (event.a, event.end if event.asked else None)
        return ended

    def interrupted(self) -> bool:
        """Whether a Ctrl-C was typed that nothing has taken: py/mpstate.h, the exception that is
        pending is the one that lies in the interpreter's state."""
        ram = self._board.ram
        words = (heaps.word(ram, at) for at in self._state)
        inside = [w for w in words if w in self._state]
        return any(heaps.word(ram, at) == self._known.interrupt for at in inside)

    def events(self, looks: Container[int] = frozenset()) -> Iterator[Event]:
        """Everything that was traced up to now; of the looks those at these times, whole."""
        look: Event | None = None
        used, slack = bytearray(), bytearray()
        runs = self._marked("run")
        for block, column in self._blocks():
            for like in _ALIKE.finditer(column):
                part = block[like.start() * EVENT.size : like.end() * EVENT.size]
                kind = column[like.start()]
                if kind == USED:
                    for at, three in _OF_USED.iter_unpack(part) if look else ():
                        used += bytes(8 * at - len(used)) + three
                    continue
                if kind == SLACK:
                    slack += b"".join(t for _, t in _OF_USED.iter_unpack(part)) if look else b""
                    continue
                for time, kind, site, a, b, c in EVENT.iter_unpack(part):
                    if look:
                        yield look._replace(used=bytes(used), slack=bytes(slack))
                        look = None
                    if kind == LOOK and time in looks:
                        look = Event(time, kind, site, a, b, 0, c)
                        used.clear()
                        slack.clear()
                    elif kind in (MALLOC, REALLOC):
                        yield Event(time, kind, site, a, b & _LOW, b >> 32, c & _LOW, c >> 32)
                    elif kind == CELL:
                        at = (a - self.began[1].pool) // heaps.BLOCK
                        if 0 <= at < len(self.began[1].states):
                            yield Event(time, kind, site, at, 1)
                    elif kind not in _OTHERS and not (kind == MARK and a in runs):
                        yield Event(time, kind, site, a, b, 0, c)
        if look:
            yield look._replace(used=bytes(used), slack=bytes(slack))

    def thrown(self, names: Qstrs) -> Iterator[Thrown]:
        """Every exception that was raised, caught or not, in order."""
        last: Thrown | None = None
        said = bytearray()
        for time, kind, site, a, b, c in self._records(THROWN, TEXT):
            if kind == TEXT:
                said += _THREE.pack(a, b, c) if site == self._known.text & _LOW else b""
                continue
            if last:
                yield _with_text(last, said)
            argument = names.text(c >> 2) if c & 3 == 2 else c >> 1 if c & 1 else None
            last = Thrown(time, site, a, names.text(b & _LOW), argument, b >> 32)
            said.clear()
        if last:
            yield _with_text(last, said)

    def times(self, kind: str) -> list[int]:
        """When a function that is a mark of that kind was called."""
        numbers = self._marked(kind)
        return [e.time for e in self.of(MARK) if e.a in numbers]

    def _marked(self, kind: str) -> set[int]:
        return {n for n, (name, _) in enumerate(self._known.marks, 1) if name == kind}

    def of(self, kind: int, since: int = 0) -> Iterator[Event]:
        """All of a kind, `since` so many bytes of events; looks without what they saw."""
        records = self._records(kind, since=since)
        return (Event(t, k, s, a, b, 0, c) for t, k, s, a, b, c in records)

    def _records(self, *kinds: int, since: int = 0) -> Iterator[tuple[int, ...]]:
        """Those of some kinds."""
        wanted = re.compile(b"[%s]" % re.escape(bytes(kinds)))
        for block, column in self._blocks(since):
            for m in wanted.finditer(column):
                yield EVENT.unpack_from(block, m.start() * EVENT.size)

    def _blocks(self, since: int = 0) -> Iterator[tuple[bytes, bytes]]:
        """What was traced, some of it at a time, and the kind of each record: most of them are of
        looks, and are not read one by one."""
        self._file.flush()
        with self._path.open("rb") as f:
            f.seek(since)
            while block := f.read(EVENT.size * 4096):
                yield block, block[_KIND :: EVENT.size]

    def new_looks(self) -> list[Event]:
        """Those that were written since the last call, without what they saw."""
        since, self._read = self._read, self._file.tell()
        return [*self.of(LOOK, since)]

    def stacks(self, names: Qstrs) -> dict[int, tuple[Place, ...]]:
        """Site -> the lines that were being run, the innermost first."""
        out: dict[int, tuple[Place, ...]] = {NOWHERE: (), _SITES_FULL: ()}
        with_lines = set(_COMPILED_THERE)
        for _, _, site, file, function, line in self._records(PLACE):
            place = Place(names.text(file), names.text(function), line)
            out[site] = (*out.get(site, ()), place)
            with_lines |= {place.file} if line else set()
        self.depths = {site: len(places) for site, places in out.items()}
        return {site: _named(places, with_lines) for site, places in out.items()}


def _with_text(thrown: Thrown, said: bytes) -> Thrown:
    text = said.rstrip(b"\0").decode(errors="replace")
    return thrown._replace(argument=text) if text else thrown


def _named(places: tuple[Place, ...], with_lines: set[str]) -> tuple[Place, ...]:
    """Where all is on line 1, the table of lines is as empty as of code without one. A
    comprehension is a function of its own only for the interpreter: it is its caller's, and on its
    caller's line as long as its own is not past the first."""
    out: list[Place] = []
    for p in reversed(places):
        line = p.line or int(p.file in with_lines)
        if p.function in COMPREHENSIONS and out and out[-1].file == p.file:
            out[-1] = replace(out[-1], line=line if line > 1 else out[-1].line)
        else:
            out.append(replace(p, line=line))
    return tuple(reversed(out))
