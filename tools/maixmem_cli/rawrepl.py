# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A board's raw REPL over whatever pyserial opens: a serial port, a pty, socket://host:port.

mpremote copies files and is the tool for people. This is for tests and live views: it keeps the prompt over
lines that a MaixPy board prints on its own (`kpu_net __del__`) and tells a hung board from a slow one.
"""

from __future__ import annotations

import contextlib
import time
from types import TracebackType
from typing import Callable

from maixmem_cli.needs import need

#: what pyserial raises when a port cannot be opened or goes away; its own SerialException is an OSError
LINK_ERRORS: tuple[type[Exception], ...] = (OSError,)
with contextlib.suppress(ImportError):  # Windows
    import termios

    LINK_ERRORS += (termios.error,)  # pyserial lets it through; it is no OSError

_BANNER = b"raw REPL; CTRL-B to exit\r\n>"
_CHUNK = 1024
_TRY = 2.0  # seconds for one try to get the raw REPL


class BoardError(Exception):
    """The board did not answer as a raw REPL does: not there, hung, or reset."""


class PortError(BoardError):
    """The port cannot be opened, or is gone: it has to be opened anew."""


class RawRepl:
    """A connection in the raw REPL. Use it as a context manager: leaving gives the prompt back."""

    def __init__(self, url: str, baudrate: int = 115200) -> None:
        self.url = url
        self._pending = b""
        open_port = need("serial").serial_for_url
        try:
            self._port = open_port(
                url, baudrate=baudrate, timeout=0.05, write_timeout=5, exclusive=True
            )
        except LINK_ERRORS + (ValueError,) as e:
            raise PortError(
                f"{url}: cannot be opened: {e}. Next: check the port's name and that nothing else uses it."
            ) from e

    def __enter__(self) -> RawRepl:
        self.enter()
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def enter(self, timeout: float = 15) -> None:
        """Interrupts what runs and goes to the raw REPL; tries again while the board boots.

        One Ctrl-C a try: two that come while a program sleeps cancel each other (measured on the firmware, v0.6.2_84).
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

    def run(
        self,
        code: str,
        timeout: float = 60,
        on_text: Callable[[str], None] | None = None,
        limit: float | None = None,
    ) -> tuple[str, str]:
        """Runs code; its output and its traceback ("" when none).

        `timeout` is the longest silence in seconds, `limit` the longest time for the output, if it is to have one.
        """
        data = code.encode()
        for i in range(0, len(data), 256):
            self._write(data[i : i + 256])
            time.sleep(0.002)
        self._write(b"\x04")
        self._until(b"OK", timeout, limit=timeout)
        out = self._until(b"\x04", timeout, on_text, limit)[:-1]
        error = self._until(b"\x04", timeout, limit=timeout)[:-1]
        self._until(b">", timeout, limit=timeout)
        return out.decode(errors="replace").replace("\r\n", "\n"), error.decode(
            errors="replace"
        ).replace("\r\n", "\n")

    def check(self, code: str, timeout: float = 60) -> str:
        """Runs code that must not fail and ends in `timeout` seconds; its output."""
        out, error = self.run(code, timeout, limit=timeout)
        if error:
            raise BoardError(
                f"{self.url}: {error.strip().splitlines()[-1]} (while running {code[:60]!r})"
            )
        return out

    def write_file(
        self, name: str, data: bytes, progress: Callable[[int], None] | None = None
    ) -> None:
        """Writes a file on the board and checks its length there."""
        self.check(f"_f = open({name!r}, 'wb')")
        for i in range(0, len(data), _CHUNK):
            self.check(f"_n = _f.write({data[i : i + _CHUNK]!r})")
            if progress:
                progress(min(len(data), i + _CHUNK))
        length = self.check(f"_f.close()\nimport os\nprint(os.stat({name!r})[6])").split()[-1]
        if int(length) != len(data):
            raise BoardError(
                f"{name}: {len(data)} bytes were sent, {length} are there. Next: free space on the board, again."
            )

    def close(self) -> None:
        """Back to the friendly prompt, port closed."""
        for step in (lambda: self._port.write(b"\r\x02"), self._port.close):
            with contextlib.suppress(*LINK_ERRORS):
                step()

    def _write(self, data: bytes) -> None:
        try:
            self._port.write(data)
        except LINK_ERRORS as e:
            raise PortError(self._lost(f"the connection broke: {e}")) from e

    def _until(
        self,
        end: bytes,
        timeout: float,
        on_text: Callable[[str], None] | None = None,
        limit: float | None = None,
    ) -> bytes:
        """What the board says up to `end`; BoardError after `timeout` seconds of silence, or `limit` in all."""
        began = last = time.monotonic()
        shown = 0
        while end not in self._pending:
            try:
                data = self._port.read(max(1, self._port.in_waiting))
            except LINK_ERRORS as e:
                raise PortError(self._lost(f"the connection broke: {e}")) from e
            if data:
                last = time.monotonic()
                self._pending += data
                if on_text:
                    on_text(self._pending[shown:].decode(errors="replace"))
                    shown = len(self._pending)
            elif time.monotonic() - last > timeout:
                raise BoardError(self._lost(f"no answer for {timeout:.0f} s"))
            if limit is not None and time.monotonic() - began > limit and end not in self._pending:
                raise BoardError(self._lost(f"output without an answer for {limit:.0f} s"))
        at = self._pending.index(end) + len(end)
        found, self._pending = self._pending[:at], self._pending[at:]
        return found

    def _lost(self, why: str) -> str:
        tail = self._pending[-300:].decode(errors="replace").strip()
        return f"{self.url}: {why}. The board hangs or is not at its prompt. Next: reset it. Last output: {tail!r}"
