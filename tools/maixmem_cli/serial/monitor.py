# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Samples of a board's free memory, over resets and pulled plugs."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from maixmem_cli.serial import visit
from maixmem_cli.serial.identity import check_heap
from maixmem_cli.serial.repl import BoardError, PortError, RawRepl

_HISTORY = 60  # samples kept for the picture
_SILENCE = 2.0  # seconds; a sample takes a hundredth of it
_WARM = 3  # samples before the first that is shown
_AGAIN = 0.3  # seconds between two tries to reach a board that is away


@dataclass
class Series:
    """One region: its size, and what was free. `low` is the least since the start or the last
    reset of the board."""

    name: str
    total: int | None
    free: int = 0
    low: int | None = None
    history: deque[int] = field(default_factory=lambda: deque(maxlen=_HISTORY))

    def add(self, free: int) -> None:
        self.free = free
        self.low = free if self.low is None else min(self.low, free)
        self.history.append(free)

    def used(self, free: int | None) -> int | None:
        return None if self.total is None or free is None else self.total - free


@dataclass(frozen=True)
class Sample:
    """One reading: `event` is "", "reset" (the interpreter is a new one) or "away" (no answer,
    nothing was read)."""

    seconds: float
    event: str
    series: list[Series]


# Owns the connection; close() gives the prompt back. A board that does not answer is asked again
# for `patience` seconds, then BoardError. Asks only; never resets.
class Monitor:
    """Reads a board's regions again and again."""

    def __init__(
        self, url: str, open_board: Callable[[str], RawRepl], patience: float = 30
    ) -> None:
        self.url = url
        self._open_board = open_board
        self._patience = patience
        self._board: RawRepl | None = None
        self._start = time.monotonic()
        self.series: list[Series] = []

    def open(self) -> None:
        """Connects and prepares the board; BoardError when it cannot."""
        if self._board is None:
            self._board = self._open_board(self.url)
        self._board.enter(5)
        check_heap(self._board)
        self._entered = visit.ask(self._board, "library", "enter")
        visit.keep(self._board, "watch")
        names, totals = visit.ask_kept(self._board, "totals")
        for _ in range(_WARM):  # new names and buffers of the visit itself
            visit.ask_kept(self._board, "sample")
        self.series = [Series(name, total) for name, total in zip(names, totals)]

    def close(self) -> None:
        """Leaves the board at its prompt."""
        board, self._board = self._board, None
        if board is not None:
            with contextlib.suppress(BoardError):
                visit.drop_kept(board, "watch", _SILENCE)
                home, _, had = self._entered
                visit.ask(board, "library", "leave", home, had, timeout=_SILENCE)
            board.close()

    def samples(self, interval: float) -> Iterator[Sample]:
        """A sample each `interval` seconds, for ever, from a board that was opened."""
        event = ""
        while True:
            began = time.monotonic()
            try:
                for series, free in zip(
                    self.series,
                    visit.ask_kept(self._connected(), "sample", _SILENCE),
                ):
                    series.add(free)
            except BoardError as e:
                yield self._sample("away")
                self._again(e)
                event = "reset"
                continue
            yield self._sample(event)
            event = ""
            time.sleep(max(0.0, interval - (time.monotonic() - began)))

    def _connected(self) -> RawRepl:
        if self._board is None:
            raise PortError(f"{self.url}: not connected")
        return self._board

    def _sample(self, event: str) -> Sample:
        return Sample(time.monotonic() - self._start, event, self.series)

    def _again(self, failure: BoardError) -> None:
        """Back to a board that was reset (its names are gone) or pulled (its port is)."""
        end = time.monotonic() + self._patience
        while True:
            try:
                if isinstance(failure, PortError):
                    self.close()
                self.open()
                return
            except visit.Missing:
                raise
            except BoardError as e:
                failure = e
                if time.monotonic() > end:
                    raise BoardError(f"{e} It was away for {self._patience:.0f} s.") from e
                time.sleep(_AGAIN)
