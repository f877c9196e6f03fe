# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The process that runs a script on a stand-in: what it may use of this computer, and what it
says."""

from __future__ import annotations

import codecs
import contextlib
import ctypes
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

import click

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

from maixmem_cli.runs import landlock
from maixmem_cli.text.output import harmless, printable

RECORD = "\x1e"  # begins a line of stderr that is for us, not for the user
SCRIPT = "\uffff"  # the script's name in the interpreter, of one letter: no letter of Unicode
_LONGEST = 1 << 16  # bytes of a line of stderr
_MOST_RECORDS = 8
_NO_NEW_CODE = 65  # PR_SET_MDWE of Linux 6.3, linux/prctl.h


def can_stop() -> bool:
    """Whether a process that has its threads can be kept from starting more (Linux)."""
    return resource is not None and hasattr(resource, "prlimit")


def limits(
    memory: int, confine: Callable[[], None] | None, *, makes_code: bool, threads: bool = False
) -> Callable[[], None] | None:
    """What the process does before it becomes the interpreter: it may have so much memory, write
    no file, start no process (`threads`: not yet) and, where the kernel keeps that, open no other
    file and make no machine code."""
    if resource is None:
        return None
    most = [(resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0)]
    most += [] if threads else [(resource.RLIMIT_NPROC, 0)]
    prctl = None if makes_code else getattr(ctypes.CDLL(None), "prctl", None)

    def limit() -> None:
        for what, n in most:
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(what, (n, n))
        if prctl:
            prctl(_NO_NEW_CODE, 1, 0, 0, 0)
        if confine:
            confine()

    return limit


# Owns the process. Its stdout goes to ours as it comes; lines of its stderr go to ours without
# what a terminal would obey, but for RECORDs, which are kept.
class Enclosed:
    """A running interpreter. `heard`: when it last printed something; `records`: what it reported;
    `error`: why its words could not be passed on, which ends it."""

    def __init__(
        self,
        command: list[str],
        env: dict[str, str],
        memory: int,
        *,
        makes_code: bool,
        may_read: Sequence[Path] | None = None,
        pipes: Sequence[int] = (),
        threads: bool = False,
        starts_in: Path | None = None,
        script: str = SCRIPT,
    ) -> None:
        """`may_read`: files and folders; None does not confine it, which CPython would need half
        of this computer for. `pipes`: numbers of files that it has too. `threads`: it may start
        some until starts_no_more(). `script`: what is printed where it says SCRIPT; on stderr
        without its folder."""
        self._script = script
        self.heard = time.monotonic()
        self.records: list[str] = []
        self.error: OSError | None = None
        wall = landlock.confined(may_read) if may_read is not None else nullcontext()
        with wall as confine:
            self.process = subprocess.Popen(
                command,
                env=env,
                cwd=starts_in,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=tuple(pipes),
                preexec_fn=limits(  # noqa: PLW1509, no lock
                    memory, confine, makes_code=makes_code, threads=threads
                ),
            )
        self._threads = [threading.Thread(target=t) for t in (self._words, self._lines)]
        for thread in self._threads:
            thread.daemon = True
            thread.start()

    def starts_no_more(self) -> None:
        """From now on it starts no process and no thread; where that cannot be, it ends."""
        try:
            resource.prlimit(self.process.pid, resource.RLIMIT_NPROC, (0, 0))
        except OSError as e:
            self.error = e
            self.process.kill()

    def _words(self) -> None:
        assert self.process.stdout
        to = click.get_binary_stream("stdout")
        letters = codecs.getincrementaldecoder("utf-8")("replace")
        while data := os.read(self.process.stdout.fileno(), _LONGEST):
            self.heard = time.monotonic()
            try:
                text = letters.decode(data).replace(SCRIPT, self._script)
                to.write(harmless(text).encode())
                to.flush()
            except (OSError, ValueError) as e:  # ValueError: it is closed
                self.error = e if isinstance(e, OSError) else OSError(str(e))
                self.process.kill()
                return

    def _lines(self) -> None:
        assert self.process.stderr
        while line := self.process.stderr.readline(_LONGEST):
            text = line.decode(errors="replace")
            if text[0] == RECORD:
                self.records = [*self.records, text[1:]][:_MOST_RECORDS]
            else:
                text = text.rstrip("\r\n").replace(SCRIPT, os.path.basename(self._script))
                click.echo(printable(text), err=True)

    def wait(self, seconds: float | None = None) -> int:
        """Its exit status, when all that it printed was passed on. TimeoutExpired; OSError: our
        stdout takes no more."""
        status = self.process.wait(seconds)
        for thread in self._threads:
            thread.join()
        if self.error:
            raise self.error
        return status
