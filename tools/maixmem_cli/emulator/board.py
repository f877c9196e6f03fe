# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A K210 board in software as an object: started, talked to over its serial line, looked into,
stopped."""

from __future__ import annotations

import contextlib
import mmap
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from maixmem_cli.emulator.compiler import board_program

RAM_SIZE = 8 << 20
_ANSWER = 30.0  # seconds
# What the order "state" answers, in this order, and after it for each hart.
_STATE = (
    "instructions microseconds idle_microseconds frames asks pixels resets typed hangs limited"
).split()
_HART = "mepc mcause mbadaddr pc".split()


class BoardStopped(Exception):
    """The program that is the board has ended; the text is what it said last."""


def _memory_file(size: int) -> int:
    """A file descriptor of so many bytes that two processes can map; it has no name."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("maixmem-ram")
    else:
        with tempfile.TemporaryFile() as f:
            fd = os.dup(f.fileno())
    os.ftruncate(fd, size)
    return fd


def chip_file(data: bytes | bytearray) -> int:
    """A file descriptor with these bytes, without a name."""
    fd = _memory_file(len(data))
    os.pwrite(fd, data, 0)
    return fd


# Owns the process, the RAM that both see, and the descriptors it made. Every call ends: by its
# answer or by BoardStopped.
class Board:
    """One board. Use it as a context manager; leaving stops it."""

    def __init__(
        self,
        flash: bytes | bytearray | int,
        *,
        sd: int | None = None,
        camera: int | None = None,
        sanitize: bool = False,
        errors: Any = None,
    ) -> None:
        """`flash`: the chip's bytes (a copy is made), or a descriptor of a file that keeps what is
        written.

        `sd` and `camera` are descriptors of the card and of the pictures that the camera sees
        (pictures.film).
        """
        program = board_program(sanitize=sanitize)
        own_flash = None if isinstance(flash, int) else chip_file(flash)
        flash_fd = flash if isinstance(flash, int) else own_flash
        self._ram_fd = _memory_file(RAM_SIZE)
        self.ram = mmap.mmap(self._ram_fd, RAM_SIZE)
        self._control, control = socket.socketpair()
        self._control.settimeout(_ANSWER)
        self.serial, line = socket.socketpair()
        line.setblocking(False)
        fds = (self._ram_fd, flash_fd, line.fileno(), control.fileno(), sd, camera)
        command = [str(program), *(str(-1 if fd is None else fd) for fd in fds)]
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            command,
            pass_fds=[fd for fd in fds if fd is not None],
            stdin=subprocess.DEVNULL,
            stderr=errors or self._errors,
            start_new_session=True,
        )
        control.close()
        line.close()
        if own_flash is not None:
            os.close(own_flash)

    def order(self, text: str) -> str:
        """Sends one order on the control line; what it answered. BoardStopped, or ValueError for a
        no."""
        try:
            self._control.sendall(text.encode() + b"\n")
            said = b""
            while not said.endswith(b"\n"):
                got = self._control.recv(1 << 16)
                if not got:
                    raise OSError("closed")
                said += got
        except OSError as e:
            raise BoardStopped(self._last_words() or f"the board does not answer: {e}") from e
        answer, _, word = said.decode().strip().rpartition(" ")
        if word != "ok":
            raise ValueError(f"the board refused {text!r}")
        return answer

    def state(self) -> dict[str, Any]:
        """Instructions, seconds of its clock, frames, whether it hangs, the registers of both
        harts."""
        numbers = [int(n) for n in self.order("state").split()]
        state: dict[str, Any] = dict(zip(_STATE, numbers))
        each = len(_HART) + 32
        harts = [numbers[i : i + each] for i in range(len(_STATE), len(numbers), each)]
        state["harts"] = [{**dict(zip(_HART, h)), "x": [0, *h[len(_HART) + 1 :]]} for h in harts]
        return state

    @contextlib.contextmanager
    def paused(self) -> Iterator[Board]:
        """The board stands still inside: its RAM does not change."""
        self.order("pause")
        try:
            yield self
        finally:
            self.order("go")

    def snapshot(self) -> bytes:
        """A copy of the RAM, taken between two instructions."""
        with self.paused():
            return bytes(self.ram)

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        return self.said().strip()

    def said(self) -> str:
        """What the board's program said on its stderr: devices that are not modelled."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> int:
        """Ends the board; its exit status. What was written to flash is in the file by then."""
        self._control.close()
        self.serial.close()
        try:
            status = self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        with contextlib.suppress(BufferError):
            self.ram.close()
        with contextlib.suppress(OSError):
            os.close(self._ram_fd)
        return status

    def __enter__(self) -> Board:
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
