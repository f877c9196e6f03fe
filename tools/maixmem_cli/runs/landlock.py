# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Landlock: a process that may open the files it is given, for reading, and no others. Linux 5.13
and later; from 6.2 on (ABI 3) truncating is kept from it too.

Numbers and structures: linux/landlock.h and the system call table, the same on every architecture.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

TRUNCATION = 3  #: the ABI that keeps a process from truncating
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
#: ABI -> every right on files that it knows
_RIGHTS = {0: 0, 1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF}
#: what an interpreter needs to start: the loader, its libraries
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")


def abi() -> int:
    """The version of the kernel's Landlock; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, ctypes.CDLL(None).syscall(_CREATE, None, 0, _ASK_VERSION))


@contextlib.contextmanager
def confined(files: Iterable[Path]) -> Iterator[Callable[[], None] | None]:
    """What a child calls before it becomes another program: from then on it may read these files
    and folders and what a program needs to start, and write nothing. None where the kernel has no
    Landlock."""
    rights = _RIGHTS[min(abi(), max(_RIGHTS))]
    if not rights:
        yield None
        return
    call = ctypes.CDLL(None, use_errno=True).syscall
    attributes = struct.pack("Q", rights)
    ruleset = call(_CREATE, attributes, len(attributes), 0)
    if ruleset < 0:
        yield None
        return
    try:
        for path in (*map(Path, _SYSTEM), *files):
            _allow(call, ruleset, path, _READ | _EXECUTE)
        _allow(call, ruleset, Path("/dev/null"), _READ | _WRITE)

        def confine() -> None:
            ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
            if call(_RESTRICT, ruleset, 0) != 0:
                raise OSError(ctypes.get_errno(), "landlock_restrict_self")

        yield confine
    finally:
        os.close(ruleset)


def _allow(call: Callable[..., int], ruleset: int, path: Path, rights: int) -> None:
    """Adds a rule; nothing for a path that does not exist."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        more = _LIST if path.is_dir() else 0
        rule = struct.pack("=Qi", rights | more, place)
        call(_ADD, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(place)
