# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The library in a thread on firmware: threads that begin after its port was found have the stack
that it needs; with 4 KB what would end in "Stackoverflow !" raises before. In a manager they wait
for each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import emulated
import pytest
from emulated import each_image, needs_cc
from maixmem_cli.emulator.board import Board
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.serial.repl import RawRepl

pytestmark = needs_cc

_ON_BOARD = Path(emulated.__file__).with_name("threads_on_board.py")
MODELS = ((0x300000, "v3_face_ld5.kmodel"), (0x500000, "v3_mnist_maixpy.kmodel"))
CALLS = {"use": "ok", "add": "ok", "report": "ok", "refused": "NoRoom"}
SMALL = {
    "use": "ok RuntimeError",
    "add": "RuntimeError",
    "report": "RuntimeError",
    "refused": "RuntimeError",
}


@pytest.fixture
def board(image: Path) -> Iterator[Board]:
    """With a manager of two models and what a thread calls; skips where there are none."""
    models = [(address, emulated.model(name)) for address, name in MODELS]
    with booted(image, models, files_of_library()) as board:
        repl = RawRepl(image.name, SerialPort(board))
        repl.check(_ON_BOARD.read_text(), timeout=60)
        if not emulated.answer(repl, "print(_thread is not None)"):
            pytest.skip(f"{image.name} has no threads")
        if emulated.answer(repl, "lost()"):
            pytest.skip(f"{image.name} loses heap with each load, bare too")
        yield board


@each_image
def test_two_threads_switch_models(image: Path, board: Board) -> None:
    repl = RawRepl(image.name, SerialPort(board))
    done, loaded, gone = emulated.answer(repl, "two_threads()")
    assert sorted(map(str, done)) == ["True", "True", "ok", "ok"] and not loaded
    assert gone[0] == gone[1], gone


@each_image
def test_calls_in_a_thread(image: Path, board: Board) -> None:
    start = board.snapshot()
    for stack, ends in ((16384, CALLS), (4096, SMALL)):
        for call, end in ends.items():
            board.restore(start)
            repl = RawRepl(image.name, SerialPort(board))
            found = emulated.answer(repl, f"in_thread({call}, {stack})")
            assert found[0] in end.split() and found[1] == "ok", (call, stack, found)
