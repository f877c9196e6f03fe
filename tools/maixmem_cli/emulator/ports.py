# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`--port emu:IMAGE[,FILE@ADDRESS...]`: a board in software where a serial port is expected.

Its flash stays in the user's cache, as a real board's does when its power is cut: what one command
writes, the next one finds. `emu:IMAGE,new` begins with a new one.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import time
from pathlib import Path
from typing import Any, BinaryIO

from maixmem_cli.emulator.board import HANGS, ROUNDS, Board, BoardStopped
from maixmem_cli.emulator.compiler import NoBoardHere, cache
from maixmem_cli.emulator.cores import write_whole
from maixmem_cli.flash.image import ImageError, build
from maixmem_cli.serial.repl import BoardError, RawRepl
from maixmem_cli.text.numbers import parse_address

PREFIX = "emu:"
_renewed: set[Path] = set()
_POLL = 0.05
_LAST = 20  # runs of 10 ms before a port is closed
_BOOT = 20.0  # seconds of the board's clock
_TALKATIVE = 1 << 16  # bytes that a program says, not a boot


class Hangs(OSError):
    """The board can do nothing more until it is reset."""


# What RawRepl wants of a serial port. The board runs while it is read. Does not own the board.
class SerialPort:
    """read, write, in_waiting and close of pyserial."""

    in_waiting = 1 << 16  # as much as there is

    def __init__(self, board: Board) -> None:
        self.board = board

    def read(self, most: int) -> bytes:
        """What has come, after at most 50 ms. Hangs when nothing can come any more."""
        end = time.monotonic() + _POLL
        unread = self.board.unread
        why = 0
        while not unread and not why & HANGS and time.monotonic() < end:
            why = self.step()
        if why & HANGS and not unread:
            raise Hangs("the board hangs: its firmware has crashed")
        data = bytes(unread[:most])
        del unread[:most]
        return data

    def clock(self) -> float:
        """Seconds that have passed on the board, which a busy desk does not change."""
        return float(self.board.state()["microseconds"] / 1e6)

    def step(self) -> int:
        """The board runs for some 10 ms of this machine, or less."""
        return self.board.run(self.rounds())

    def rounds(self) -> int:
        """Of 1,000 instructions a core, in a step."""
        return ROUNDS

    def write(self, data: bytes) -> None:
        self.board.type(data)

    def close(self) -> None:
        """Nothing to close: the board is another's."""


class NoPrompt(BoardError):
    """What is on the flash does not come to a Python prompt."""


def at_prompt(port: SerialPort, name: str) -> RawRepl:
    """The raw REPL of a board that has just been started. NoPrompt when it does not get there."""
    try:
        said, end = b"", port.clock() + _BOOT
        # a main.py of the card may run for ever: then it is interrupted
        while b"\n>>> " not in said and port.clock() < end and len(said) < _TALKATIVE:
            said += port.read(port.in_waiting)
        repl = RawRepl(name, port)
        repl.enter(_BOOT)
    except (OSError, BoardError) as e:
        why = "its code crashes" if isinstance(e, Hangs) else " ".join(str(e).split())
        text = f"{name} does not come to MaixPy's prompt: {why}"
        raise NoPrompt(f"{text}. Next: give the .bin or .kfpkg of a MaixPy v1 release") from e
    return repl


class _Owning(SerialPort):
    """The port that a command opened by name: closing it stops the board and keeps its flash."""

    def __init__(self, board: Board, kept: Path, lock: BinaryIO) -> None:
        super().__init__(board)
        self._kept, self._lock = kept, lock

    def close(self) -> None:
        if not self._lock.closed:
            with self._lock, contextlib.suppress(BoardStopped):
                for _ in range(_LAST):  # what was sent last arrives
                    self.board.run()
                write_whole(self._kept, bytes(self.board.flash))
            self.board.stop()


def wanted(url: str) -> tuple[Path, list[tuple[int, Path]], bool]:
    """What a port's name says: the image, (address, file) in flash, whether the flash is to be
    new. OSError: it is none."""
    image, *more = url[len(PREFIX) :].split(",")
    files = []
    for item in more:
        if item != "new":
            name, at, address = item.rpartition("@")
            if not at:
                raise OSError(
                    f"{item!r} is not FILE@ADDRESS. Next: --port emu:IMAGE,FILE@0x300000"
                )
            try:
                files.append((parse_address(address), Path(name)))
            except ValueError as e:
                raise OSError(str(e)) from None
    return Path(image), files, "new" in more


def _locked(path: Path) -> BinaryIO:
    """The lock of a board's flash, held until the file is closed. OSError: another holds it."""
    file = path.open("ab")
    try:
        if os.name == "nt":
            windows: Any = importlib.import_module("msvcrt")
            windows.locking(file.fileno(), windows.LK_NBLCK, 1)
        else:
            posix: Any = importlib.import_module("fcntl")
            posix.flock(file, posix.LOCK_EX | posix.LOCK_NB)
    except OSError:
        file.close()
        raise OSError(
            "another command uses this board. Next: end it, or give another image"
        ) from None
    return file


def open_port(url: str) -> SerialPort:
    """A started board as a port; closing it stops the board. OSError says why there is none."""
    image, files, new = wanted(url)
    try:
        chip: bytes | bytearray = build(image, files)
    except ImageError as e:
        raise OSError(str(e)) from None
    kept = cache() / "boards" / f"{image.stem}-{hashlib.sha256(chip).hexdigest()[:12]}.flash"
    kept.parent.mkdir(parents=True, exist_ok=True)
    lock = _locked(kept.with_suffix(".lock"))
    try:
        if new and kept not in _renewed:  # a command may open its port more than once
            _renewed.add(kept)
        elif kept.is_file() and kept.stat().st_size == len(chip):
            chip = kept.read_bytes()
        return _Owning(Board(chip), kept, lock)
    except BaseException as e:
        lock.close()
        if isinstance(e, NoBoardHere):
            raise OSError(str(e)) from e
        raise
