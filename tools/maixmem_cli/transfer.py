# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A set of files onto a board so that a cut leaves the old set or the new one.

Three steps: each file under a temporary name, checked there; all renamed by one command, which the board has
either received whole or not at all; all checked once more. A file that is right already is not sent again,
so that a transfer which was cut goes on where it stopped.
"""

from __future__ import annotations

import binascii
import hashlib
import time
from dataclasses import dataclass, field
from typing import Callable

from maixmem import kib

from maixmem_cli.mpboard import Board, LinkLost
from maixmem_cli.rawrepl import BoardError

_TEMP = "~"
_SENDS = 2  # times that a file is sent when the board finds it wrong
_RETRY = 0.5  # seconds between two tries to open the port again

# Closes the file that mpremote held open when a cut came. Defines check(name) on the board: (size, algorithm,
# digest), or None when there is no such file.
CHECK = """
try:
    f.close()
except (NameError, AttributeError, OSError):
    pass
try:
    import os
except ImportError:
    import uos as os
try:
    import ubinascii as binascii
except ImportError:
    import binascii
try:
    try:
        from uhashlib import sha256
    except ImportError:
        from hashlib import sha256
except ImportError:
    sha256 = None
def check(name):
    try:
        f = open(name, 'rb')
    except OSError:
        return None
    n = c = 0
    h = sha256() if sha256 else None
    try:
        while True:
            b = f.read(512)
            if not b:
                break
            n += len(b)
            if h:
                h.update(b)
            else:
                c = binascii.crc32(b, c)
    finally:
        f.close()
    return (n, 'sha256', binascii.hexlify(h.digest()).decode()) if h else (n, 'crc32', c & 0xffffffff)
"""
_RENAME = """
def put(temp, name):
    try:
        os.rename(temp, name)
    except OSError:
        os.remove(name)
        os.rename(temp, name)
for n in {names!r}:
    put(n + {temp!r}, n)
for n in {stale!r}:
    os.remove(n)
if hasattr(os, 'sync'):
    os.sync()
print(True)
"""


@dataclass
class Result:
    """What a transfer did, names on the board."""

    copied: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    algorithm: str = ""


class TransferError(Exception):
    """It did not end well: the text says what is on the board now and what to do."""


def cut(failure: LinkLost | None, state: str) -> str:
    """What to say when the connection broke: why, what is on the board now, what to do."""
    return (
        f"the connection was cut: {failure}. {state} Next: check cable and port, reset the board, "
        "run the same command again: it goes on where it stopped."
    )


def matches(data: bytes, found: tuple[int, str, str | int] | None) -> bool:
    """True when what check() found on the board is this data."""
    if found is None:
        return False
    digest = hashlib.sha256(data).hexdigest() if found[1] == "sha256" else binascii.crc32(data)
    return found[0] == len(data) and found[2] == digest


def free_bytes(board: Board, target: str) -> tuple[int, int] | None:
    """(free bytes, bytes to leave free) of the file system, None where it cannot say.

    Two of its blocks stay free: a full SPIFFS (blocks of 128 KiB) needs minutes for each write (measured).
    """
    code = "try:\n    import os\n    s = os.statvfs({!r})\n    print((s[1] * s[4], 2 * s[1]))\nexcept (OSError, AttributeError):\n    print(None)"
    return board.ask(code.format(target), "asking for free space")


def wanted_bytes(files: dict[str, bytes]) -> int:
    """Bytes of flash for files: pages of 4 KiB, one more for the name."""
    return sum((len(data) + 4095) // 4096 * 4096 + 4096 for data in files.values())


# One transfer to one directory. run() may open the board several times: `connect` gives a new connection each
# time, and is tried again for `patience` seconds after one broke, `attempts` times in all.
class Transfer:
    """Files (full names on the board: data) to put, and stale names to remove once these are in place."""

    def __init__(
        self,
        connect: Callable[[], Board],
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
        """Does it all; `progress` takes (name, bytes written of it). TransferError when it cannot."""
        failure: LinkLost | None = None
        for _ in range(self._attempts):
            try:
                with self._reconnect(failure) as board:
                    self._once(board, progress)
                return self.result
            except LinkLost as e:
                failure = e
            except KeyboardInterrupt:
                text = f"stopped. {self._state()} Next: run the same command again: it goes on."
                raise TransferError(text) from None
            except BoardError as e:
                raise TransferError(
                    f"{e}. {self._state()} Next: reset the board, see its free space, run this again."
                ) from e
        raise TransferError(cut(failure, self._state())) from failure

    def _reconnect(self, failure: LinkLost | None) -> Board:
        end = time.monotonic() + self._patience
        while True:
            try:
                return self._connect().open()
            except LinkLost as e:
                if failure is None or time.monotonic() > end:
                    raise TransferError(cut(failure or e, self._state())) from e
                time.sleep(_RETRY)

    def _state(self) -> str:
        if self._renaming:
            return "The new files are on the board; whether they are in their places is not known."
        return "The old files on the board are as they were."

    def _once(self, board: Board, progress: Callable[[str, int], None]) -> None:
        board.run(CHECK, "preparing the check")
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
                f"{', '.join(missing)}: sent {_SENDS} times, and the board has not what was sent. {self._state()} "
                "Next: another cable or port; is the file system of the board damaged?"
            )
        if todo or stale:
            self._switch(board, todo, stale)

    def _found(
        self, board: Board, names: list[str]
    ) -> dict[str, tuple[int, str, str | int] | None]:
        """What check() says about files on the board."""
        found = board.ask(f"print({{n: check(n) for n in {names!r}}})", "checking the files")
        self.result.algorithm = next((f[1] for f in found.values() if f), self.result.algorithm)
        return found

    def _wrong(self, board: Board, names: list[str], suffix: str = "") -> list[str]:
        """The names whose file (name + suffix) is not there with the right contents."""
        found = self._found(board, [n + suffix for n in names])
        return [n for n in names if not matches(self.files[n], found[n + suffix])]

    def _room(self, board: Board, todo: list[str]) -> None:
        there = free_bytes(board, next(iter(self.files)).rpartition("/")[0] or "/")
        need = wanted_bytes({n: self.files[n] for n in todo})
        if there and todo and there[0] < need + there[1]:
            raise TransferError(
                f"not enough room: {kib(need)} to copy and {kib(there[1])} to leave free, the board has {kib(there[0])}. "
                "Nothing was changed. Next: remove files there, take fewer --modules, or another --target."
            )

    def _send(self, board: Board, todo: list[str], progress: Callable[[str, int], None]) -> None:
        for name in todo:
            board.write(name + _TEMP, self.files[name], lambda done: progress(name, done))

    def _switch(self, board: Board, todo: list[str], stale: list[str]) -> None:
        self._renaming = True
        board.ask(_RENAME.format(names=todo, temp=_TEMP, stale=stale), "renaming the new files")
        wrong = self._wrong(board, todo)
        if wrong:
            raise TransferError(
                f"{', '.join(wrong)}: not what was sent after renaming. Next: run the same command again."
            )
        self._renaming = False
