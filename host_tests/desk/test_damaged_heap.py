# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A board whose system heap is damaged: every command says so before it asks what may hang it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import paths
import pytest
import serial
from commands import invoke, maixmem, mpremote
from fakeboard import FakeBoard
from maixmem_cli.serial import visit
from maixmem_cli.serial.repl import BoardError, RawRepl

pytestmark = pytest.mark.skipif(
    paths.micropython() is None or sys.platform == "win32",
    reason="no MicroPython unix port here: no fake board",
)

_BLOCK = "import k210_board as b\nblock = b.heap.malloc(5000)\n"
#: the size of the top chunk, written over
_SPOIL = _BLOCK + "b.ram.poked = {b.heap.top + 8: 0x41414141}\nprint(b.heap.top, block)"
_SAID = "the system heap is damaged at {:#x}, perhaps by what has the block of {} bytes at {:#x}"
#: takes the GC heap but for one block
_FILL = """
import gc
hole = bytearray({})
x = None
for n in (500, 0):
    try:
        while True: x = (x, bytearray(n) if n else None)
    except MemoryError: gc.collect()
hole = None
"""
EVERY = (
    ("deploy",),
    ("deploy", "--remove"),
    ("auto", "--install"),
    ("selftest", "--quick"),
    ("top", "--once"),
)


@pytest.fixture
def board(tmp_path: Path):
    with FakeBoard(tmp_path / "maix", "maix") as board:
        yield board


def run(board: FakeBoard, code: str) -> str:
    return mpremote(board.port, "resume", "exec", code)


def spoil(board: FakeBoard) -> str:
    """What is to be said of it."""
    top, block = map(int, run(board, _SPOIL).split())
    return _SAID.format(top, 5000, block)


def test_doctor_says_where_and_by_whom_and_asks_no_more(board: FakeBoard) -> None:
    said = spoil(board)
    before = set(run(board, "print(*dir())").split())
    done = invoke("doctor", "--port", board.port, "--json", "-v")
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert told.keys() == {"notes", "findings"}
    (finding,) = told["findings"]
    assert finding["cause"] == f"{said}; a load or a camera may hang."
    assert finding["step"]["text"] == "machine.reset()" and finding["others"] == []
    assert told["notes"][0].startswith("Not asked: ")
    assert "class Heap" in done.stderr
    assert not any(f"import {name}" in done.stderr for name in ("os", "uos", "maixmem"))
    assert set(run(board, "print(*dir())").split()) - before <= {"gc", "sys"}


def test_what_doctor_prints_of_it(board: FakeBoard) -> None:
    said = spoil(board)
    lines = maixmem("doctor", "--port", board.port, status=1).splitlines()
    assert lines[0].startswith("Not asked: ") and lines[1] == "1 findings"
    assert lines[2].startswith(f"1. {said}") and lines[3:] == ["   Do this: machine.reset()"]


def test_other_commands_refuse_in_the_same_words(board: FakeBoard) -> None:
    said = spoil(board)
    for command in EVERY:
        done = invoke(*command, "--port", board.port)
        assert done.exit_code == (2 if command[0] == "top" else 1), command
        assert said in done.stderr and "Next: machine.reset()" in done.stderr, command
    run(board, "b.ram.poked = {}")
    assert "who" in json.loads(invoke("doctor", "--port", board.port, "--json").stdout)


def test_lists_that_are_not_found_stop_nothing(board: FakeBoard) -> None:
    """As on a firmware whose malloc is another."""
    run(board, _BLOCK + "b.ram.blank = True")
    assert "who" in json.loads(invoke("doctor", "--port", board.port, "--json").stdout)


def test_only_maixpy_is_asked(tmp_path: Path) -> None:
    with FakeBoard(tmp_path / "modern", "modern") as board:
        done = invoke("doctor", "--port", board.port, "--json", "-v")
    assert "who" in json.loads(done.stdout)
    assert "sys.platform" in done.stderr and "class Heap" not in done.stderr


@pytest.mark.parametrize("nbytes", [3000, 5000, 7000, 9000, 10000, 12000])
def test_no_room_to_ask_is_said(board: FakeBoard, nbytes: int) -> None:
    """For the first question, or amid the one about malloc's lists."""
    run(board, _FILL.format(nbytes))
    done = invoke("doctor", "--port", board.port)
    assert done.exit_code == 1
    assert "MemoryError" in done.stderr and "no room for the question" in done.stderr
    assert "Next: reset the board" in done.stderr
    names = run(board, "print(*dir())").split()
    assert "x" in names and not {"Heap", "find", "damaged"} & set(names)


def test_a_text_without_room_is_not_sent(board: FakeBoard, monkeypatch: Any) -> None:
    """It would end the interpreter: the prompt keeps what it reads outside of any try."""
    long = "#" * 4000
    monkeypatch.setattr(visit, "source", lambda *of: ([long, "def answer(): return 5"], "answer"))
    run(board, _FILL.format(3000))
    with RawRepl(board.port, serial.Serial(board.port, timeout=0.05)) as repl:
        with pytest.raises(BoardError, match=r"MemoryError.* no room for the question"):
            visit.ask(repl, "any", "answer")
        repl.check("x = None")  # the program's own, and there still
        assert visit.ask(repl, "any", "answer") == 5


def test_a_file_without_room_for_its_lines_is_not_begun(board: FakeBoard) -> None:
    run(board, _FILL.format(3000))
    with RawRepl(board.port, serial.Serial(board.port, timeout=0.05)) as repl:
        with pytest.raises(BoardError, match=r"MemoryError.* \(while writing /flash/a\.txt\)"):
            repl.write_file("/flash/a.txt", bytes(range(256)) * 4)
        repl.check("x = None")
        repl.write_file("/flash/a.txt", bytes(range(256)) * 4)
    assert (board.root / "a.txt").read_bytes() == bytes(range(256)) * 4
