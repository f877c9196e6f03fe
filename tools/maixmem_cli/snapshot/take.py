# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Takes a snapshot of a board over its raw REPL."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Callable

from k210_model.heap import RAM_END, RAM_START

from maixmem_cli.heap import blocks, books, roots
from maixmem_cli.heap.layout import Layout
from maixmem_cli.heap.memory import Pages, Range
from maixmem_cli.heap.objects import Objects
from maixmem_cli.heap.pools import Pools
from maixmem_cli.heap.table import Area, areas
from maixmem_cli.serial.agent import Agent, Board, NoSnapshot
from maixmem_cli.serial.repl import BoardError, RawRepl
from maixmem_cli.snapshot import store, system
from maixmem_cli.snapshot.store import Known, Taken

Progress = Callable[[int], None]  #: takes the bytes that came so far
_RP2040 = ((0x10000000, 0x10200000), (0x20000000, 0x20042000))
#: memory that may be read on a platform; an address that is none stops a board. K210: its RAM;
#: RP2040: flash and RAM
_MEMORY = {
    "MaixPy": ((RAM_START, RAM_END),),
    "rp2": _RP2040,
    "RP2040": _RP2040,  # CircuitPython
}
_AGAIN = 4  # times
_NEAR = 1 << 18  # bytes around the type of types, which are the interpreter's own


_SILENCE = 30.0  # seconds beyond the time at which a snapshot begins
_BYTES = 11520  # a second, of the slowest cable: the timer begins before the source is sent
_ENDED = "The program ended before. Next: without --after, or a shorter one"


class _Cable(Pages):
    """Memory and names behind an agent."""

    def __init__(self, agent: Agent, layout: Layout, readable: Iterable[Range]) -> None:
        super().__init__(layout.word, layout.block, list(readable), agent.read)
        self.names = Known()
        self._agent, self._layout = agent, layout

    def missed(self) -> bool:
        was, self.names.missed = self.names.missed, False
        return super().missed() or was

    def fetch(self) -> bool:
        if not self._ask:
            return False
        wanted = sorted(self.names.missing)
        self.names.missing.clear()
        texts = self._agent.names(map(self._layout.name_word, wanted))
        self.names.texts.update(zip(wanted, texts))
        return super().fetch() or bool(wanted)


def of_board(repl: RawRepl, *, collect: bool = True, progress: Progress = lambda n: None) -> Taken:
    """What the board has now: at its prompt, after its program. The board stays in the raw
    REPL."""
    agent = Agent(repl, progress)
    taken = read(agent, agent.begin(collect), repl.url, collect=collect)
    agent.end()
    repl.until(b"\x04", 30)
    repl.until(b"\x04", 30)
    repl.until(b">", 30)
    return taken


@dataclass
class Running:
    """A program that runs on the board, with timers that take snapshots of it."""

    repl: RawRepl
    agent: Agent
    armed: bool

    def take(self, after: float, *, collect: bool) -> Taken:
        """The next one, between two bytecodes; where there is no timer, after Ctrl-C. BoardError:
        the program ended before."""
        if not self.armed:
            self._wait(after)
            self.repl.enter()
            return of_board(self.repl, collect=collect, progress=self.agent.progress)
        try:
            board = self.agent.listen(after + _SILENCE)
        except NoSnapshot as e:
            self.agent.disarm()
            raise BoardError(f"{e}. {_ENDED}") from None
        taken = read(self.agent, board, self.repl.url, idle=False, collect=collect)
        self.agent.end()
        return taken

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if b"\x04" in self.repl.heard():
                raise BoardError(f"{self.repl.url}: no snapshot. {_ENDED}")


def of_running(
    repl: RawRepl,
    source: str,
    seconds: Sequence[float],
    *,
    collect: bool = True,
    progress: Progress = lambda n: None,
) -> Running:
    """Starts a program, and takes snapshots of it after so many seconds each."""
    agent = Agent(repl, progress)
    first, *more = seconds
    armed = agent.arm(collect, [first + len(source) / _BYTES, *more])
    repl.begin(source)
    return Running(repl, agent, armed)


def waits(after: Sequence[float]) -> list[float]:
    """The time between moments, of seconds since the start."""
    return [b - a for a, b in zip((0.0, *after), after)]


def read(
    agent: Agent, board: Board, name: str, *, idle: bool = True, collect: bool = True
) -> Taken:
    """All that is needed of it."""
    store.check_layout(board.word, board.empty, name)
    layout = store.layout(board.word, board.empty, board.version, board.platform)
    near = (board.types - _NEAR, board.types + _NEAR)
    state = roots.around(board.main)
    readable = [state, *_MEMORY.get(board.platform, (near,))]
    memory = _Cable(agent, layout, [(low - low % layout.block, high) for low, high in readable])
    if board.table:
        memory.need(state[0], state[1] - state[0])
        memory.fetch()
        found = _areas(board, memory, name)
    else:
        found = _by_books(board, memory, name, agent.collect if collect else lambda: None)
    memory.readable += [(area.pool, area.end + layout.block) for area in found]
    taken = Taken(
        board={key: getattr(board, key) for key in store.BOARD},
        interpreter=board.interpreter,
        version=board.version,
        platform=board.platform,
        areas=found,
        memory=memory,
        names=memory.names,
        idle=idle,
        collected=collect,
    )
    if agent.named:
        Objects(taken.moment(), memory.names)  # reads what it needs
    else:
        memory.names.texts = _by_pools(taken, memory, layout, name)
    if board.platform in system.PLATFORMS:
        lists = system.read(memory, board.modules)
        taken.chunks = store.chunks_of(lists) if lists else []
    memory.seal()
    return taken


def _areas(board: Board, memory: _Cable, name: str) -> list[Area]:
    """As the board prints them."""
    try:
        return areas(board.table, memory.page)
    except ValueError as e:
        raise store.SnapshotError(f"{name}: {e}: a damaged heap. Next: reset the board") from None


def _by_books(board: Board, memory: _Cable, name: str, collect: Callable[[], None]) -> list[Area]:
    """As the interpreter has them, where it does not print them."""
    total = board.after + board.free
    collect()
    found: list[books.Books] = []
    for _ in range(_AGAIN):  # an area that is empty may be given back at any time
        found = _found_books(memory, board.main, total)
        if found:
            break
    if not found:
        raise store.SnapshotError(
            f"{name}: no micropython.mem_info(), which prints the table of blocks, and no table "
            f"for {total:,} bytes near {board.main:#x}. "
            "Next: maixmem doctor, which counts the heap"
        )
    for area in found:
        table = area.table - area.table % memory.page, area.pool
        memory.readable.append(table)
        memory.forget(area.table, area.length)
        memory.need(area.table, area.length)
    collect()
    memory.fetch()
    return [
        Area(area.pool, blocks.states(memory.read(area.table, area.length)), memory.page)
        for area in found
    ]


def _found_books(memory: _Cable, main: int, total: int) -> list[books.Books]:
    """As the interpreter has them now."""
    state = roots.around(main)
    memory.pages.clear()
    memory.need(state[0], state[1] - state[0])
    memory.fetch()
    while True:
        memory.missed()
        found = books.find(memory, state, total, memory.page)
        if not (memory.missed() and memory.fetch()):
            return found


def _by_pools(taken: Taken, memory: _Cable, layout: Layout, name: str) -> dict[int, str]:
    """The names of what is read, from the interpreter's own table: the board gives none."""
    pools = Pools(memory, layout, roots.around(taken.board["main"]))
    found = pools.find()
    while memory.missed() and memory.fetch():
        found = pools.find()
    if not found:
        raise store.SnapshotError(
            f"{name}: struct has no 'O', which gives names, and the interpreter's table of names "
            f"is not found near {taken.board['main']:#x}. "
            "Next: maixmem doctor, which counts the heap"
        )
    Objects(taken.moment(), pools)
    return pools.texts
