# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A process of its own that asks the runtime about a file before this one does.

librknnrt 1.4.0 to 1.6.0 end the process over some files, or do not return: damaged ones, models of
RV1106 where nobody tells the chip. So a child asks first, with the steps of the question that
follows here (Loader.measure); what it ends with is read from its output, for a program may
reap children itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from typing import Any, Callable

import maixmem_generic

# How Python is started: isolated from the user's modules. An interpreter that is a part of another
# program is not its `executable`.
_OWN = os.path.basename(sys.executable or "").startswith("python")
PYTHON = [sys.executable, "-I", "-S"] if _OWN else []
_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from maixmem_rknn import asking; asking.main()"
)
BEGUN, ANSWERED = b"begun\n", b"\nanswered\n"
_SECONDS = 30
# by the system where RAM ran out, or by people: that says nothing of the file
_OTHERS = (signal.SIGKILL, signal.SIGTERM)
# RAM of the child besides the file, which it reads and copies; with less nobody asks first.
_RAM = 48 << 20


def ended(library: Any, data: Any, *question: int) -> str | None:
    """How the runtime ends a process that asks this `question` about a file, or None when it
    answers, or when no child can be started."""
    path = isinstance(library, ctypes.CDLL) and library._name
    room = maixmem_generic.meminfo().get("MemAvailable", 0)
    if not path or not PYTHON or room < _RAM + 2 * len(data):
        return None
    pipe = subprocess.PIPE
    how: Any = {"stdin": pipe, "stdout": pipe, "stderr": subprocess.DEVNULL}
    how["start_new_session"] = True  # Ctrl-C at the terminal is not for it
    try:
        child = subprocess.Popen(command(path, *question), **how)
    except OSError:
        return None
    try:
        return _how(child, data)
    finally:
        child.kill()
        for end in (child.stdin, child.stdout):
            if end:
                end.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(1)  # one that hangs in the driver stays


def command(path: str, *question: int) -> list[str]:
    """What starts a child."""
    return [*PYTHON, "-c", _START, _FOLDER, path, *[str(int(each)) for each in question]]


def _how(child: Any, data: Any) -> str | None:
    try:
        told, _ = child.communicate(memoryview(data).cast("B"), timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return f"gives no answer in {_SECONDS} seconds"
    by = -child.returncode
    if told.endswith(ANSWERED) or not told.startswith(BEGUN) or by in _OTHERS:
        return None
    with contextlib.suppress(ValueError):
        return f"ends the process ({signal.Signals(by).name})"
    return "ends the process"
