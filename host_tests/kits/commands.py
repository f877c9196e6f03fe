# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Running `maixmem` and the real mpremote from a test."""

from __future__ import annotations

import subprocess
import sys

import paths
from click.testing import CliRunner, Result
from maixmem_cli.cli import main
from maixmem_cli.emulator import ports

_SLOW = 400  # seconds; a board at 115200 baud takes a minute for the library


def invoke(*arguments: str, input: str | None = None) -> Result:
    """Runs the command in this process; the result has .exit_code, .stdout and .stderr."""
    ports._renewed.clear()  # boards that are new are so once a command
    try:
        runner = CliRunner(mix_stderr=False)  # click 8.1
    except TypeError:
        runner = CliRunner()
    return runner.invoke(main, list(arguments), env={"COLUMNS": "100"}, input=input)


def maixmem(*arguments: str, status: int = 0) -> str:
    """Runs the command, which must end with this exit status; its standard output."""
    done = invoke(*arguments)
    said = f"{done.stdout}\n{done.stderr}\n{done.exception}"
    assert done.exit_code == status, f"exit status {done.exit_code}\n{said}"
    return done.stdout


def mpremote(port: str, *arguments: str) -> str:
    """Runs mpremote, which must succeed, from the top of the project; its standard output."""
    command = [sys.executable, "-m", "mpremote", "connect", port, *arguments]
    done = subprocess.run(
        command, cwd=paths.ROOT, capture_output=True, text=True, timeout=_SLOW, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
