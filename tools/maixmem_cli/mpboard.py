# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A board through mpremote: its files, and short questions to its interpreter."""

from __future__ import annotations

import ast
import contextlib
import io
import struct
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable

from maixmem_cli.needs import need
from maixmem_cli.rawrepl import LINK_ERRORS, BoardError

_SILENCE = 5.0  # seconds a read waits; mpremote itself waits for ever
_ENTER = 4.0  # seconds for one try to get the raw REPL
_CHUNK = 512  # bytes of a file in one line of Python

# What the board is. Runs on MicroPython 1.9 and later, and CircuitPython.
_WHO = """
import sys, gc
try:
    import os
except ImportError:
    import uos as os
_i = sys.implementation
gc.collect()
print(repr((_i.name, tuple(_i.version)[:3], sys.platform,
    os.uname()[4] if hasattr(os, 'uname') else sys.platform,
    getattr(_i, '_mpy', getattr(_i, 'mpy', -1)), list(sys.path), gc.mem_free())))
"""


class LinkLost(BoardError):
    """The connection broke or the board stopped to answer; what it was told last may not have reached it."""


@dataclass(frozen=True)
class Identity:
    """What a board says about itself. `bytecode` is the .mpy version its interpreter names, None when it names none."""

    implementation: str
    version: tuple[Any, ...]
    platform: str
    machine: str
    bytecode: int | None
    path: tuple[str, ...]
    free: int

    @property
    def kind(self) -> str:
        """ "maixpy", "circuitpython" or "micropython"."""
        if self.implementation == "circuitpython":
            return "circuitpython"
        return "maixpy" if self.platform in ("MaixPy", "CanMV") else "micropython"

    def __str__(self) -> str:
        name = {"maixpy": self.platform, "circuitpython": "CircuitPython"}.get(
            self.kind, "MicroPython"
        )
        return f"{name} {'.'.join(str(n) for n in self.version)}, {self.machine}"


# Holds the port open and the board in the raw REPL from open() to close(), which gives the prompt back. Every call
# ends: with an answer, with BoardError when the board raised, or with LinkLost. Interrupts what the board runs.
class Board:
    """A connection that mpremote made."""

    def __init__(self, port: str) -> None:
        self.port = port
        self._transport: Any = None
        self._transport_errors: tuple[type[BaseException], ...] = ()

    def open(self) -> Board:
        """Connects, once; LinkLost when it cannot."""
        serial = need("mpremote.transport_serial")
        errors = need("mpremote.transport")
        self._exec_error = errors.TransportExecError
        self._transport_errors = (
            errors.TransportError,
            *LINK_ERRORS,
            struct.error,
            ValueError,
            SyntaxError,
            EOFError,
        )
        try:
            with self._guarded("connecting"):
                self._transport = serial.SerialTransport(self.port)
                self._transport.serial.timeout = _SILENCE
                self._enter(errors.TransportError)
        except BaseException:
            self.close()
            raise
        return self

    def _enter(self, failure: type[Exception]) -> None:
        """The raw REPL; tries again, because some boards restart when their port is opened."""
        for last in (False, False, True):
            try:
                with contextlib.redirect_stdout(io.StringIO()):  # it prints what it did not expect
                    self._transport.enter_raw_repl(soft_reset=False, timeout_overall=_ENTER)
                return
            except failure:
                if last:
                    raise

    def close(self) -> None:
        """Gives the prompt back, also out of a command that was half sent, and closes the port."""
        transport, self._transport = self._transport, None
        if transport:
            with contextlib.suppress(*self._transport_errors):
                transport.serial.write(b"\r\x03")
                transport.exit_raw_repl()
            with contextlib.suppress(*self._transport_errors):
                transport.close()

    def __enter__(self) -> Board:
        return self if self._transport else self.open()

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def _guarded(self, doing: str) -> Any:
        """Turns what mpremote raises into BoardError (the board's exception) or LinkLost (everything else)."""
        try:
            yield
        except BoardError:
            raise
        except self._transport_errors as e:
            if isinstance(e, self._exec_error):
                raise BoardError(
                    f"{self.port}: {e.error_output.strip().splitlines()[-1]} (while {doing})"
                ) from e
            text = " ".join(str(e).split()) or type(e).__name__
            raise LinkLost(f"{self.port}: {text} (while {doing})") from e

    def run(self, code: str, doing: str) -> str:
        """Runs code on the board; what it printed."""
        with self._guarded(doing):
            return self._transport.exec(code).decode(errors="replace")

    def ask(self, code: str, doing: str) -> Any:
        """Runs code whose last line printed is the repr() of plain values; these values."""
        said = self.run(code, doing)
        with self._guarded(doing):
            return ast.literal_eval(said.strip().splitlines()[-1])

    def identity(self) -> Identity:
        """Asks who it is. Collects the board's garbage."""
        name, version, platform, machine, mpy, path, free = self.ask(
            _WHO, "asking the board who it is"
        )
        return Identity(
            name, version, platform, machine, mpy & 0xFF if mpy > 0 else None, tuple(path), free
        )

    def write(self, name: str, data: bytes, progress: Callable[[int], None]) -> None:
        """Writes a file with mpremote; `progress` takes the bytes written so far."""
        with self._guarded(f"writing {name}"):
            self._transport.fs_writefile(name, data, _CHUNK, lambda done, total: progress(done))
