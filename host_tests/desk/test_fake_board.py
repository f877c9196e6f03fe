# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the fake board does that a real one does: a Ctrl-C ends a program, and nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import paths
import pytest
import serial
from fakeboard import FakeBoard
from maixmem_cli.serial.repl import RawRepl

pytestmark = pytest.mark.skipif(
    paths.micropython() is None or sys.platform == "win32",
    reason="no MicroPython unix port here: no fake board",
)


def connect(board: FakeBoard) -> RawRepl:
    repl = RawRepl(board.port, serial.Serial(board.port, timeout=0.05))
    repl.enter()
    return repl


def test_ctrl_c_behind_a_program_is_for_the_prompt(tmp_path: Path) -> None:
    """A slow interpreter ends its program and changes its prompt in one look at it."""
    with FakeBoard(tmp_path / "maix") as board:
        repl = connect(board)
        with board._plug:  # the board does not look meanwhile
            board._from_host(b"kept = 5\x04")
            os.write(board._term, b"\r\x02")
            board._heard(board._until(b">>> "))
        repl.leave()
        with connect(board) as again:
            assert again.check("print(kept)") == "5\n"
