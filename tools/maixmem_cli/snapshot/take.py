# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Takes a snapshot of a board over its raw REPL."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Callable

from k210_model.heap import RAM_END, RAM_START

from maixmem_cli.heap import roots
from maixmem_cli.heap.layout import Layout
from maixmem_cli.heap.memory import Pages, Range
from maixmem_cli.heap.objects import Objects
from maixmem_cli.heap.table import areas
from maixmem_cli.serial.agent import Agent, Board, NoSnapshot
from maixmem_cli.serial.repl import BoardError, RawRepl
from maixmem_cli.snapshot import store, system
from maixmem_cli.snapshot.store import Known, Taken

Progress = Callable[[int], None]  #: takes the bytes that came so far
#: memory that may be read on a platform; an address that is none stops a board. K210: its RAM;
#: RP2040: flash and RAM
_MEMORY = {
    "MaixPy": ((RAM_START, RAM_END),),
    "rp2": ((0x10000000, 0x10200000), (0x20000000, 0x20042000)),
}
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
    taken = read(agent, agent.begin(collect), repl.url)
    taken.collected = collect
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
        taken = read(self.agent, board, self.repl.url, idle=False)
        taken.collected = collect
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


def read(agent: Agent, board: Board, name: str, *, idle: bool = True) -> Taken:
    """All that is needed of it."""
    store.check_layout(board.word, board.empty, name)
    layout = store.layout(board.word, board.empty, board.version, board.platform)
    try:
        found = areas(board.table, layout.block)
    except ValueError as e:
        raise store.SnapshotError(f"{name}: {e}: a damaged heap. Next: reset the board") from None
    near = (board.types - _NEAR, board.types + _NEAR)
    state = roots.around(board.main)
    pools = [(area.pool, area.end + layout.block) for area in found]
    readable = [*pools, state, *_MEMORY.get(board.platform, (near,))]
    memory = _Cable(agent, layout, [(low - low % layout.block, high) for low, high in readable])
    fields = asdict(board)
    del fields["interpreter"], fields["version"], fields["platform"], fields["table"]
    taken = Taken(
        fields, board.interpreter, board.version, board.platform, found, memory, memory.names, idle
    )
    memory.need(state[0], state[1] - state[0])
    memory.fetch()
    Objects(taken.moment(), memory.names)  # reads what it needs
    if board.platform in system.PLATFORMS:
        lists = system.read(memory, board.modules)
        taken.chunks = store.chunks_of(lists) if lists else []
    memory.seal()
    return taken
