# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The child that asks the runtime about a file first: how its end is told. On Rockchip's own
runtimes in host_tests/real."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys

import pytest
from maixmem import KModelError
from maixmem_rknn import trial
from rknn_raw import small

LIBRARY = ctypes.CDLL("libc.so.6") if sys.platform == "linux" else None
READ = "import os, signal, sys, time\nsys.stdin.buffer.read()\nos.write(1, b'begun\\n')\n"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch):
    """What trial.ended() says of a child that runs this code instead."""

    def ask(code: str, data: bytes = b"model"):
        monkeypatch.setattr(trial, "PYTHON", [sys.executable, "-c", code])
        return trial.ended(LIBRARY, (ctypes.c_ubyte * len(data)).from_buffer_copy(data), 0, True)

    return ask


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
def test_a_child_that_is_ended_by_the_runtime(asked, number: signal.Signals):
    code = READ + f"os.kill(os.getpid(), {int(number)})"
    assert asked(code) == f"ends the process ({number.name})"


def test_other_ends(asked, monkeypatch: pytest.MonkeyPatch):
    assert asked(READ + "os._exit(0)") == "ends the process"
    assert asked(READ + "print('log'); os.write(1, b'\\nanswered\\n')", bytes(1 << 20)) is None
    assert asked(READ + "os.kill(os.getpid(), signal.SIGKILL)") is None  # no RAM
    monkeypatch.setattr(trial, "_SECONDS", 1)
    assert asked(READ + "time.sleep(60)") == "gives no answer in 1 seconds"


def test_where_no_child_can_be_asked_the_process_asks_itself(asked, monkeypatch):
    assert asked("raise SystemExit(1)") is None
    monkeypatch.setattr(trial, "PYTHON", ["/no/such/python"])
    assert trial.ended(LIBRARY, (ctypes.c_ubyte * 4)(), 0, True) is None
    monkeypatch.setattr(trial, "PYTHON", [])
    assert trial.ended(LIBRARY, (ctypes.c_ubyte * 4)(), 0, True) is None


def test_a_child_of_this_interpreter_opens_the_library_by_itself():
    """Without the modules of this process. libc is no RKNN runtime, which it says."""
    command = trial.command("libc.so.6", 0, True)
    done = subprocess.run(command, input=b"", capture_output=True, env={}, check=False)
    assert b"libc.so.6 has no rknn_init: is it the RKNN runtime?" in done.stderr


def test_a_file_that_ends_the_child_is_refused(boards, monkeypatch: pytest.MonkeyPatch):
    """By inspect(), use() and load(), once asked for all of them; the runtime never sees it."""
    raw, port = boards()
    asked = []
    end = lambda *question: asked.append(question) or "ends the process (SIGSEGV)"  # noqa: E731
    monkeypatch.setattr(trial, "ended", end)
    cost = port.inspect(small("a"))
    assert "ends the process (SIGSEGV) when it is asked about this file" in cost.refuse
    assert "Next: copy it again; or convert it" in cost.refuse
    with pytest.raises(KModelError, match="SIGSEGV"):
        port.load(small("a"))
    assert len(asked) == 1 and raw.npu.live == 0 and port.used == 0
