# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A set of files onto a board so that a cut leaves the old set or the new one.

Three steps: each file under a temporary name, checked there; all renamed by one command, which the
board has either received whole or not at all; all checked once more. A file that is right already
is not sent again, so that a transfer which was cut goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
import zlib
from dataclasses import dataclass, field
from typing import Callable

from maixmem_report import kib

from maixmem_cli.serial.repl import BoardError, ConnectionLost, RawRepl
from maixmem_cli.serial.visit import ask

_TEMP = "~"
#: what a file system says when it takes no more: EIO is SPIFFS (measured), ENOSPC the others
_FULL = ("OSError: 5", "OSError: 28", "[Errno 5]", "[Errno 28]", "EIO", "ENOSPC")
_SENDS = 2  # times that a file is sent when the board finds it wrong
#: what on_board/files.py says of a file, computed here
_DIGESTS: dict[str, Callable[[bytes], str | int]] = {
    "sha256": lambda data: hashlib.sha256(data).hexdigest(),
    "crc32": zlib.crc32,
    "adler32": zlib.adler32,
}
_RETRY = 0.5  # seconds between two tries to open the port again


@dataclass
class Result:
    """What a transfer did, names on the board."""

    copied: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    algorithm: str = ""


class TransferError(Exception):
    """It did not end well: the text says what is on the board now and what to do."""


def cut(failure: ConnectionLost | None, state: str) -> str:
    """What to say when the connection broke: why, what is on the board now, what to do."""
    return (
        f"the connection was cut: {failure}. {state} Next: check cable and port, reset the board, "
        "run the same command again: it goes on where it stopped."
    )


def refused(error: BoardError, folder: str, state: str) -> str:
    """What to say when the board refused to write: why, what is on it now, what to do."""
    full = any(text in str(error) for text in _FULL)
    why = f"{folder} is full or damaged" if full else "the board refused"
    step = "remove files there, take fewer --modules, or another --target" if full else "reset it"
    return f"{why}: {error}. {state} Next: {step}; then run this again."


def matches(data: bytes, found: tuple[int, str, str | int] | None) -> bool:
    """True when what check() found on the board is this data."""
    if found is None:
        return False
    return found[0] == len(data) and found[2] == _DIGESTS[found[1]](data)


def free_bytes(board: RawRepl, target: str) -> int | None:
    """Bytes of the file system that can be used, None where it cannot say.

    Two of its blocks do not count: a full SPIFFS (blocks of 128 KiB) says that it has two free and
    refuses to write, after minutes for each write before (measured on the firmware v0.6.2_84).
    """
    found = ask(board, "files", "statistics", [target], doing="asking for free space")
    free, _, block = found.get(target, (None, None, None))
    return None if free is None else max(0, free - 2 * block)


def wanted_bytes(files: dict[str, bytes]) -> int:
    """Bytes of flash for files: pages of 4 KiB, one more for the name."""
    return sum((len(data) + 4095) // 4096 * 4096 + 4096 for data in files.values())


# One transfer to one directory. run() may open the board several times: `connect` gives a new
# connection each time, and is tried again for `patience` seconds after one broke, `attempts` times
# in all.
class Transfer:
    """Files (full names on the board: data) to put, and stale names to remove once these are in
    place."""

    def __init__(
        self,
        connect: Callable[[], RawRepl],
        files: dict[str, bytes],
        stale: tuple[str, ...] = (),
        patience: float = 10,
        attempts: int = 3,
    ) -> None:
        self.files, self.stale = files, stale
        self._connect, self._patience, self._attempts = connect, patience, attempts
        self.result = Result()
        self._first = True
        self._renaming = False

    def run(self, progress: Callable[[str, int], None]) -> Result:
        """Does it all; `progress` takes (name, bytes written of it). TransferError when it
        cannot."""
        failure: ConnectionLost | None = None
        for _ in range(self._attempts):
            try:
                with self._reconnect(failure) as board:
                    self._guarded(board, progress)
                return self.result
            except ConnectionLost as e:
                failure = e
            except KeyboardInterrupt:
                text = f"stopped. {self._state()} Next: run the same command again: it goes on."
                raise TransferError(text) from None
        raise TransferError(cut(failure, self._state())) from failure

    def _guarded(self, board: RawRepl, progress: Callable[[str, int], None]) -> None:
        """All steps; what the board refuses ends it, and leaves nothing behind."""
        try:
            self._once(board, progress)
        except ConnectionLost:
            raise
        except BoardError as e:
            if not self._renaming:
                self._clean(board)
            raise TransferError(refused(e, self._folder(), self._state())) from e

    def _reconnect(self, failure: ConnectionLost | None) -> RawRepl:
        end = time.monotonic() + self._patience
        while True:
            try:
                return self._connect()
            except ConnectionLost as e:
                if failure is None or time.monotonic() > end:
                    raise TransferError(cut(failure or e, self._state())) from e
                time.sleep(_RETRY)

    def _state(self) -> str:
        if self._renaming:
            return "The new files are on the board; whether they are in their places is not known."
        return "The old files on the board are as they were."

    def _once(self, board: RawRepl, progress: Callable[[str, int], None]) -> None:
        todo = self._wrong(board, list(self.files))
        stale = [name for name, found in self._found(board, list(self.stale)).items() if found]
        if self._first:
            self.result.copied, self.result.removed = todo, stale
            self.result.same = [name for name in self.files if name not in todo]
            self._first = False
        for name in set(self.files) - set(todo):
            progress(name, len(self.files[name]))
        missing = self._wrong(board, todo, _TEMP)
        self._room(board, missing)
        for _ in range(_SENDS):
            self._send(board, missing, progress)
            missing = self._wrong(board, missing, _TEMP)
        if missing:
            raise TransferError(
                f"{', '.join(missing)}: sent {_SENDS} times, and the board has not what "
                f"was sent. {self._state()} "
                "Next: another cable or port; is the file system of the board damaged?"
            )
        if todo or stale:
            self._switch(board, todo, stale)

    def _found(
        self, board: RawRepl, names: list[str]
    ) -> dict[str, tuple[int, str, str | int] | None]:
        """What check() says about files on the board."""
        found: dict[str, tuple[int, str, str | int] | None] = ask(
            board, "files", "check", names, doing="checking the files"
        )
        self.result.algorithm = next((f[1] for f in found.values() if f), self.result.algorithm)
        return found

    def _wrong(self, board: RawRepl, names: list[str], suffix: str = "") -> list[str]:
        """The names whose file (name + suffix) is missing or has other contents."""
        found = self._found(board, [n + suffix for n in names])
        return [n for n in names if not matches(self.files[n], found[n + suffix])]

    def _room(self, board: RawRepl, todo: list[str]) -> None:
        folder = self._folder()
        there = free_bytes(board, folder)
        need = wanted_bytes({n: self.files[n] for n in todo})
        if there is not None and there < need:
            raise TransferError(
                f"{folder} is full: {kib(need - there)} missing ({kib(need)} to copy, "
                f"{kib(there)} can be used). "
                "Nothing was changed. Next: remove files there, take fewer --modules, or "
                "another --target."
            )

    def _folder(self) -> str:
        return next(iter(self.files)).rpartition("/")[0] or "/"

    def _clean(self, board: RawRepl) -> None:
        """Removes what was sent under temporary names: the board refused, and there is nothing to
        go on with."""
        names = [n + _TEMP for n in self.files]
        with contextlib.suppress(BoardError):
            ask(board, "files", "remove", names, doing="removing what was sent")

    def _send(self, board: RawRepl, todo: list[str], progress: Callable[[str, int], None]) -> None:
        for name in todo:
            board.write_file(name + _TEMP, self.files[name], lambda done: progress(name, done))

    def _switch(self, board: RawRepl, todo: list[str], stale: list[str]) -> None:
        self._renaming = True
        doing = "renaming the new files"
        ask(board, "files", "rename", todo, _TEMP, stale, doing=doing)
        wrong = self._wrong(board, todo)
        if wrong:
            raise TransferError(
                f"{', '.join(wrong)}: not what was sent after renaming. Next: run the "
                "same command again."
            )
        self._renaming = False
