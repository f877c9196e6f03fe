# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A board's raw REPL over an open port: what pyserial opens, or a board in software.

Everything that talks to a board goes through here. It keeps the prompt over lines that a MaixPy
board prints on its own (`kpu_net __del__`), tells a hung board from a slow one, and ends in any
case: each wait has a limit.
"""

from __future__ import annotations

import contextlib
import time
from types import TracebackType
from typing import Any, Callable

from maixmem_cli.serial.port import close_serial

#: what pyserial raises when a port cannot be opened or goes away; its own SerialException is an
#: OSError
PORT_ERRORS: tuple[type[Exception], ...] = (OSError,)
with contextlib.suppress(ImportError):  # Windows
    import termios

    PORT_ERRORS += (termios.error,)  # pyserial lets it through; it is no OSError

#: takes a line about what is sent to a board, where somebody wants to see it (-v)
show_sent: Callable[[str], None] | None = None

_BANNER = b"raw REPL; CTRL-B to exit\r\n>"
_PROMPT = b"\n>>> "
_CHUNK = 1024
_WRITTEN = 4 * _CHUNK + 64  # letters of a line that writes it, at most
_AHEAD = 64  # bytes; a text grows by 16 at a time, in blocks of a heap
_TRY = 2.0  # seconds for one try to get the raw REPL


def text_room(nbytes: int) -> str:
    """Code that raises MemoryError where the board's GC heap has no room for a text of so many
    bytes. Sent without room, only the text's end is run (firmware v0.6.2_84) or the interpreter
    ends (MicroPython 1.28, unix): the prompt keeps what it reads outside of any try. This code is
    as short as what every prompt has room for."""
    return f"bytearray({nbytes + _AHEAD})"


class BoardError(Exception):
    """The board raised an exception, or did not answer as a raw REPL does."""


class ConnectionLost(BoardError):
    """No answer, or the port is gone: what was sent last may not have reached the board."""


class PortError(ConnectionLost):
    """The port cannot be opened, or is gone: it has to be opened anew."""


class RawRepl:
    """A connection in the raw REPL. Use it as a context manager: leaving gives the prompt back."""

    def __init__(self, url: str, port: Any) -> None:
        """`port`: what pyserial or the emulator opened; `url` is what messages call it."""
        self.url = url
        self._pending = b""
        self._port = port

    def __enter__(self) -> RawRepl:
        self.enter()
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def enter(self, timeout: float = 15) -> None:
        """Interrupts what runs and goes to the raw REPL; tries again while the board boots.

        One Ctrl-C a try: two that come while a program sleeps cancel each other (measured on the
        firmware, v0.6.2_84).
        """
        end = time.monotonic() + timeout
        while True:
            self._pending = b""
            self._write(b"\r\x03\r\x01")
            try:
                limit = min(_TRY, timeout)
                self._until(_BANNER, limit, limit=limit)
                return
            except BoardError:
                if time.monotonic() > end:
                    raise

    def soft_reset(self, timeout: float = 30) -> str:
        """Ctrl-D: a new interpreter, models freed. Returns what the board printed."""
        self._write(b"\x04")
        said = self._until(_BANNER, timeout)
        return said.decode(errors="replace")

    def reload(self, timeout: float = 30) -> None:
        """Ctrl-D under CircuitPython: a new interpreter, its code.py interrupted, the raw REPL."""
        self._write(b"\x04")
        self._until(b"soft reboot", timeout)
        self.enter(timeout)

    def hard_reset(self, timeout: float = 30) -> None:
        """machine.reset(), and the raw REPL of what boots."""
        self._write(b"import machine\nmachine.reset()\x04")
        self._until(b"OK", _TRY, limit=_TRY)  # and what a second try to enter left before it
        self.boots(timeout)

    def boots(self, timeout: float = 30) -> None:
        """The raw REPL of a board that boots. A program that starts then is interrupted after
        `timeout` seconds; a board in software counts those of its own clock."""
        now = getattr(self._port, "clock", time.monotonic)
        with contextlib.suppress(ConnectionLost):
            self._until(_PROMPT, timeout, limit=timeout, other=_BANNER, now=now)
        self.enter()

    def run(
        self,
        code: str,
        timeout: float = 60,
        on_text: Callable[[str], None] | None = None,
        limit: float | None = None,
        on_start: Callable[[], None] = lambda: None,
    ) -> tuple[str, str]:
        """Runs code; its output and its traceback ("" when none).

        `timeout` is the longest silence in seconds, `limit` the longest time for the output, if it
        is to have one; `on_start` is called when the board has all of the code.
        """
        self.begin(code, timeout)
        on_start()
        return self.rest(timeout, on_text, limit)

    def rest(
        self,
        timeout: float = 60,
        on_text: Callable[[str], None] | None = None,
        limit: float | None = None,
    ) -> tuple[str, str]:
        """The output of code that runs, from here to its end, and its traceback, as run() has
        them."""
        out = self._until(b"\x04", timeout, on_text, limit)[:-1]
        error = self._until(b"\x04", timeout, limit=timeout)[:-1]
        self._until(b">", timeout, limit=timeout)
        return out.decode(errors="replace").replace("\r\n", "\n"), error.decode(
            errors="replace"
        ).replace("\r\n", "\n")

    # --- a conversation with code that runs ---
    def begin(self, code: str, timeout: float = 60) -> None:
        """Sends code; returns when the board has all of it and begins to run it."""
        if show_sent:
            show_sent(code)
        data = code.encode() or b"\n"  # Ctrl-D alone would be a soft reset
        for i in range(0, len(data), 256):
            self._write(data[i : i + 256])
            time.sleep(0.002)
        self._write(b"\x04")
        self._until(b"OK", timeout, limit=timeout)

    def send(self, data: bytes) -> None:
        """Bytes for what runs."""
        self._write(data)

    def until(
        self, end: bytes, timeout: float, other: bytes | None = None, limit: float | None = None
    ) -> bytes:
        """What comes up to one of these ends, with it; `timeout` is the longest silence, `limit`
        the longest wait."""
        return self._until(end, timeout, limit=limit, other=other)

    def heard(self) -> bytes:
        """What has come and was not taken."""
        self._receive()
        return self._pending

    def exactly(self, n: int, timeout: float) -> bytes:
        """So many bytes, whatever they are."""
        last = time.monotonic()
        while len(self._pending) < n:
            if self._receive():
                last = time.monotonic()
            elif time.monotonic() - last > timeout:
                raise ConnectionLost(self._lost(f"no answer for {timeout:.0f} s"))
        found, self._pending = self._pending[:n], self._pending[n:]
        return found

    def check(self, code: str, timeout: float = 60, doing: str = "") -> str:
        """Runs code that must not fail and ends in `timeout` seconds; its output."""
        out, error = self.run(code, timeout, limit=timeout)
        if error:
            what = doing or f"running {code[:60]!r}"
            raise BoardError(f"{self.url}: {error.strip().splitlines()[-1]} (while {what})")
        return out

    def write_file(
        self, name: str, data: bytes, progress: Callable[[int], None] | None = None
    ) -> None:
        """Writes a file on the board and checks its length there; `progress` takes the bytes
        written so far."""
        doing = f"writing {name}"
        self.check(text_room(_WRITTEN), doing=doing)
        self.check(f"f = open({name!r}, 'wb')", doing=doing)
        for i in range(0, len(data), _CHUNK):
            self.check(f"_n = f.write({data[i : i + _CHUNK]!r})", doing=doing)
            if progress:
                progress(min(len(data), i + _CHUNK))
        length = self.check(f"f.close()\nimport os\nprint(os.stat({name!r})[6])", doing=doing)
        if int(length.split()[-1]) != len(data):
            raise BoardError(
                f"{name}: {len(data)} bytes were sent, {length.split()[-1]} are there. "
                "Next: free space on the board, again."
            )

    def leave(self) -> None:
        """The port is closed, what runs on the board goes on."""
        with contextlib.suppress(*PORT_ERRORS):
            close_serial(self._port)

    def close(self) -> None:
        """Back to the friendly prompt, also out of a command that was half sent; port closed."""
        for step in (lambda: self._port.write(b"\r\x03\x02"), lambda: close_serial(self._port)):
            with contextlib.suppress(*PORT_ERRORS):
                step()

    def _write(self, data: bytes) -> None:
        try:
            self._port.write(data)
        except PORT_ERRORS as e:
            raise PortError(self._lost(f"the connection broke: {e}")) from e

    def _receive(self) -> bool:
        """Takes what has come; False: nothing."""
        try:
            data = self._port.read(max(1, self._port.in_waiting))
        except PORT_ERRORS as e:
            raise PortError(self._lost(f"the connection broke: {e}")) from e
        self._pending += data
        return bool(data)

    def _until(
        self,
        end: bytes,
        timeout: float,
        on_text: Callable[[str], None] | None = None,
        limit: float | None = None,
        other: bytes | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> bytes:
        """What the board says up to `end`, or to an `other` end; ConnectionLost after `timeout`
        seconds of silence, or `limit` in all, by the clock `now`."""
        began = last = now()
        shown = self._show(on_text, 0, end)  # what came with the answer before it
        while end not in self._pending:
            if other and other in self._pending:
                end = other
                break
            if self._receive():
                last = now()
                shown = self._show(on_text, shown, end)
            elif now() - last > timeout:
                raise ConnectionLost(self._lost(f"no answer for {timeout:.0f} s"))
            if limit is not None and now() - began > limit and end not in self._pending:
                raise ConnectionLost(self._lost(f"output without an answer for {limit:.0f} s"))
        at = self._pending.index(end) + len(end)
        found, self._pending = self._pending[:at], self._pending[at:]
        return found

    def _show(self, on_text: Callable[[str], None] | None, shown: int, end: bytes) -> int:
        """What has come and was not shown, up to the end; how far that is."""
        behind = self._pending.find(end)
        upto = behind if behind >= 0 else len(self._pending)
        if on_text and upto > shown:
            on_text(self._pending[shown:upto].decode(errors="replace"))
        return upto

    def _lost(self, why: str) -> str:
        tail = self._pending[-300:].decode(errors="replace").strip()
        return (
            f"{self.url}: {why}. The board hangs or is not at its prompt. Next: reset it. "
            f"Last output: {tail!r}"
        )
