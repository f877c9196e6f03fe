# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`--port emu:IMAGE[,FILE@ADDRESS...]`: a board in software where a serial port is expected.

Its flash stays in the user's cache, as a real board's does when its power is cut: what one command
writes, the next one finds. `emu:IMAGE,new` begins with a new one.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import time
from pathlib import Path
from typing import Any

from maixmem_cli.emulator.board import Board, BoardStopped
from maixmem_cli.emulator.compiler import NoBoardHere, cache, missing
from maixmem_cli.flash import image as flash_image
from maixmem_cli.serial.repl import BoardError, RawRepl
from maixmem_cli.text.numbers import parse_address

PREFIX = "emu:"
_renewed: set[Path] = set()
_POLL = 0.05
_BOOT = 20.0  # seconds
_TALKATIVE = 1 << 16  # bytes that a program says, not a boot
_LOOK = 0.5  # seconds of silence after which the board is asked whether it hangs


class Hangs(OSError):
    """The board can do nothing more until it is reset."""


# What RawRepl wants of a serial port, on the socket of a board. Does not own the board.
class SerialPort:
    """read, write, in_waiting and close of pyserial."""

    in_waiting = 1 << 16  # as much as there is

    def __init__(self, board: Board) -> None:
        self.board = board
        self._socket = board.serial
        self._quiet_since = time.monotonic()

    def read(self, most: int) -> bytes:
        """What has come, after at most 50 ms. Hangs when nothing can come any more."""
        self._socket.settimeout(_POLL)
        try:
            data = self._socket.recv(most)
        except TimeoutError:
            if time.monotonic() - self._quiet_since > _LOOK:
                self._quiet_since = time.monotonic()
                if self.state()["hangs"]:
                    raise Hangs("the board hangs: its firmware has crashed") from None
            return b""
        self._quiet_since = time.monotonic()
        if not data:
            raise OSError(f"the board has stopped {self.board.said().strip()}".rstrip())
        return data

    def state(self) -> dict[str, Any]:
        """The board's state; OSError when it has stopped."""
        try:
            return self.board.state()
        except BoardStopped as e:
            raise OSError(str(e)) from e

    def write(self, data: bytes) -> None:
        self._socket.settimeout(30)
        self._socket.sendall(data)

    def close(self) -> None:
        """Nothing to close: the board owns the socket."""


class NoPrompt(BoardError):
    """What is on the flash does not come to a Python prompt."""


def at_prompt(port: SerialPort, name: str) -> RawRepl:
    """The raw REPL of a board that has just been started. NoPrompt when it does not get there."""
    try:
        said, end = b"", time.monotonic() + _BOOT
        # a main.py of the card may run for ever: then it is interrupted
        while b"\n>>> " not in said and time.monotonic() < end and len(said) < _TALKATIVE:
            said += port.read(port.in_waiting)
        repl = RawRepl(name, port)
        repl.enter(_BOOT)
    except (OSError, BoardError) as e:
        why = "its code crashes" if isinstance(e, Hangs) else " ".join(str(e).split())
        text = f"{name} does not come to MaixPy's prompt: {why}"
        raise NoPrompt(f"{text}. Next: give the .bin or .kfpkg of a MaixPy v1 release") from e
    return repl


class _Owning(SerialPort):
    """The port that a command opened by name: closing it stops the board."""

    def __init__(self, board: Board, lock: int) -> None:
        super().__init__(board)
        self._lock: int | None = lock

    def close(self) -> None:
        if self._lock is not None:
            time.sleep(_POLL)  # what was sent last arrives
            self.board.stop()
            os.close(self._lock)
            self._lock = None


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


def _flash_of(url: str) -> int:
    """The open, locked flash file of a board."""
    why = missing()
    if why:
        raise OSError(why)
    fcntl: Any = importlib.import_module("fcntl")  # not on Windows
    image, files, new = wanted(url)
    try:
        chip = flash_image.build(image, files)
    except flash_image.ImageError as e:
        raise OSError(str(e)) from None
    folder = cache() / "boards"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{image.stem}-{hashlib.sha256(chip).hexdigest()[:12]}.flash"
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise OSError(
            "another command uses this board. Next: end it, or give another image"
        ) from None
    if (new and path not in _renewed) or os.fstat(fd).st_size != len(chip):
        if new:  # a command may open its port more than once
            _renewed.add(path)
        os.ftruncate(fd, 0)
        os.pwrite(fd, chip, 0)
    return fd


def open_port(url: str) -> SerialPort:
    """A started board as a port; closing it stops the board. OSError says why there is none."""
    fd = _flash_of(url)
    try:
        return _Owning(Board(fd), fd)
    except NoBoardHere as e:
        os.close(fd)
        raise OSError(str(e)) from e
