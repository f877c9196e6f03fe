# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The serial line of a board on which a script runs, and what only its own computer can see of
it: that it is stuck, that it was reset, that its time is over."""

from __future__ import annotations

import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from maixmem_cli.emulator import pictures
from maixmem_cli.emulator.board import ROUNDS, Board, Snapshot
from maixmem_cli.emulator.ports import SerialPort

_STUCK = 5.0  # seconds of the board's clock in which no core does anything
_LOOK = 0.05  # seconds between two looks at a running board
_NEAR, _SOON = 8, 0.5  # pictures, and seconds, before a limit: a step of the board is less
_STEP, _LEAST = 1 / 16, 20  # of what a script has done, rounds: so far apart it is looked at
_KEPT = 2  # loops
_GRACE = 20.0  # seconds that a script may take to end after the Ctrl-C of a limit
_PATIENCE = 5.0  # and after that of our user
# what a failed assert of the SDK prints, after which it waits for ever, with interrupts
ASSERT = re.compile(
    rb"\(\S*kendryte\S*\.[ch]:\d+\) [^\r\n]+[\r\n]+$"
)  #: what a check of a driver prints
_LINE = 400  # bytes of the output that are looked at
_SILENT = (
    20.0  # seconds without a word of the script before we say where it is; then twice as many
)


class Reset(OSError):
    """The board was reset."""


class Stuck(OSError):
    """No core does anything any more."""


class NotEnding(OSError):
    """The script goes on after its Ctrl-C."""


@dataclass(frozen=True)
class Moment:
    """A board as it was when both cores had done so many instructions."""

    instructions: int
    board: Snapshot


class Watched(SerialPort):
    """The port of a running script: notices what the script itself cannot tell."""

    def __init__(self, board: Board, save_lcd: Path | None) -> None:
        super().__init__(board)
        self._lcd = save_lcd
        self._pixels: object = 0
        self._pictures = 0
        self._looked = 0.0
        self._resets: object = self.board.state()["resets"]
        self._interrupted: float | None = None
        self.on_silence: Callable[[float], None] = lambda seconds: None
        self._heard, self._patience = time.monotonic(), _SILENT
        self.stopped: float | None = None  # by our user, when
        self._asking, self._to_type = False, b""
        self._answered = self._spoke = 0  # calls of input(); the board's microsecond of the last
        self.limited = self.watching = False
        self._last = b""  # bytes that it said
        self.asserted: float | None = None  # the board's microsecond of a failed assert
        self._goes_on: Callable[[], bool] | None = None  # past its first pictures
        self.past_first: Callable[[], object] = lambda: None  # before it does
        self._given_up = False
        self._start: dict[str, Any] = {}  # the board's state when the limits began to count
        self._limits = 0, 0.0
        self._keeps = False
        self._nearly_over: Callable[[], int] | None = None
        self._rounds = 0  # that were run since the limits began to count, at most
        self.before_limit: Moment | None = None  #: the board shortly before its limit
        self.in_loop: dict[int, Moment] = {}  #: and near the end of a loop, by its place

    def keep(self, nearly_over: Callable[[], int] | None = None) -> None:
        """The board is to be kept as it is shortly before a limit: it can go on from there.
        `nearly_over`: the place of a loop that is near its end just now, 0 for none; then, too."""
        self._keeps, self._nearly_over = True, nearly_over

    def limit(self, frames: int, seconds: float, begin: tuple[int, float] = (0, 0.0)) -> None:
        """The script's limits count from here: so many pictures, so many seconds of the board's
        clock, 0: any; and what the first pictures may take."""
        few, first_seconds = begin
        self._start, self._limits = self.board.state(), (frames, seconds)
        self._rounds = _LEAST

        def goes_on() -> bool:
            state = self.board.state()
            taken = state["frames"] - self._start["frames"]
            if taken >= few and not state["limited"]:
                self.limit_in_all(frames, seconds)
            return bool(taken >= few or state["limited"])

        self._goes_on = goes_on if 0 < few < frames else None
        self.board.limit(frames, first_seconds if few else seconds)

    def limit_in_all(self, frames: int, seconds: float) -> None:
        """The same limits, counted from where the script's began to count."""
        self.board.limit(*self._left(frames, seconds))
        self.limited, self._interrupted = False, None

    def _left(self, frames: int, seconds: float) -> tuple[int, float]:
        state = self.board.state()
        passed = max(0, state["microseconds"] - self._start["microseconds"]) / 1e6
        return frames and frames - state["frames"] + self._start["frames"], seconds and (
            seconds - passed
        )

    def _is_near_limit(self) -> bool:
        frames, seconds = self._limits
        if not frames and not seconds:
            return False
        more, time_left = self._left(frames, seconds)
        near = (frames and more <= _NEAR) or (seconds and time_left <= _SOON)
        return bool(near) and not self.board.state()["limited"]

    def step(self) -> int:
        why = super().step()
        if self._goes_on and self._goes_on():
            self._goes_on = None
            self.past_first()
        if self._keeps and not self.before_limit and self._is_near_limit():
            self.before_limit = self._moment()
        loop = self._nearly_over() if self._nearly_over and self._rounds else 0
        if loop and loop not in self.in_loop:
            self.in_loop = dict([*self.in_loop.items()][1 - _KEPT :])
            self.in_loop[loop] = self._moment()
        return why

    def rounds(self) -> int:
        """While the end of a loop is waited for, a part of what was done: a short loop, too."""
        if not self._nearly_over or not self._rounds:
            return super().rounds()
        rounds = min(ROUNDS, max(_LEAST, int(_STEP * self._rounds)))
        self._rounds += rounds
        return rounds

    def _moment(self) -> Moment:
        return Moment(self.board.state()["instructions"], self.board.snapshot())

    def give_up(self) -> None:
        """Nobody wants to know any more how the script ends."""
        self._given_up = True

    def known_resets(self) -> None:
        """The resets so far were meant."""
        self._resets = self.board.state()["resets"]

    def watch(self) -> None:
        """A script begins."""
        self.watching = True
        self._heard, self._patience = time.monotonic(), _SILENT

    def unwatch(self) -> None:
        """It has ended."""
        self.watching, self._nearly_over = False, None

    def stop(self, *ignored: object) -> None:
        """Types Ctrl-C as soon as it can; when that was done before, ends everything."""
        if self.stopped:
            raise KeyboardInterrupt
        self.stopped = time.monotonic()
        self._interrupted = self.stopped - _GRACE + _PATIENCE
        if self._asking:
            raise KeyboardInterrupt
        self._to_type = b"\x03"  # not here: the board may be in the middle of a call

    def read(self, most: int) -> bytes:
        idle = False
        if self._given_up:
            raise OSError("nobody waits for it any more")
        if self._to_type:
            self.write(self._to_type)
            self._to_type = b""
        if self.watching and time.monotonic() - self._looked > _LOOK:
            idle = self.look()
            self._looked = time.monotonic()
        data = super().read(most)
        if idle and not data:  # what it said before it became idle is read first
            raise Stuck("nothing happens any more")
        if data:
            self._heard, self._patience = time.monotonic(), _SILENT
            self._last = (self._last + data)[-_LINE:]
            failed = self.watching and ASSERT.search(self._last)
            self.asserted = self.board.state()["microseconds"] if failed else None
        elif self.watching:
            self._answer()
            self._say_silence()
        return data

    def _say_silence(self) -> None:
        silent = time.monotonic() - self._heard
        if silent > self._patience and not self._interrupted:
            self._patience *= 2
            self.on_silence(silent)

    def _answer(self) -> None:
        """Types what input() waits for: a line of our stdin, or Ctrl-D when there is none, as on a
        terminal."""
        if self.board.state()["asks"] > self._answered:
            self._answered += 1
            try:
                self._asking = True
                line = sys.stdin.readline()
                self.write(line.rstrip("\n").encode() + b"\r" if line else b"\x04")
            except KeyboardInterrupt:
                self.write(b"\x03")
            finally:
                self._asking = False
            self._heard = time.monotonic()
            self._spoke = self.board.state()["microseconds"]

    def look(self) -> bool:
        """Whether the board does nothing any more; keeps a new picture of the display. Raises when
        it was reset."""
        state = self.board.state()
        self.limited |= bool(state["limited"])
        if self._lcd and state["pixels"] != self._pixels:
            self._pixels = state["pixels"]
            self._save()
        if state["resets"] != self._resets:
            self._resets = state["resets"]
            self._spoke = 0
            self.in_loop.clear()
            raise Reset("the board was reset")
        if self.limited:
            self._interrupted = self._interrupted or time.monotonic()
        if self._interrupted and time.monotonic() - self._interrupted > _GRACE:
            raise NotEnding("the script does not end")
        if self.asserted and state["microseconds"] - self.asserted > _STUCK * 1e6:
            raise Stuck("an assert of the SDK failed")
        # an idle board's clock runs ahead of what was typed just now
        idle = min(state["idle_microseconds"], state["microseconds"] - self._spoke)
        heard = not state["typed"] or self.limited  # the Ctrl-C of a limit may never be
        return idle > _STUCK * 1e6 and heard and state["asks"] == self._answered

    def _save(self) -> None:
        assert self._lcd
        path = self._lcd / f"lcd-{self._pictures + 1:04d}.png"
        data = pictures.png(self.board.picture())
        if data:
            self._pictures += 1
            path.write_bytes(data)
