# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem auto: its line in boot.py, and what the GC heap may take, on a board behind a
pseudo-terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import paths
import pytest
from commands import maixmem
from fakeboard import FakeBoard
from maixmem_cli.board import auto_line

_WHOLE = SimpleNamespace(set_gc_heap=print)
_KPU = SimpleNamespace(__name__="maixmem_kpu")
_PROGRAM = b"import lcd\nlcd.init()\n"


def test_the_line_goes_before_a_program_and_leaves_it_as_it_was() -> None:
    new = auto_line.with_lines(_PROGRAM, ", GC heap before: 524288")
    assert new.startswith(b"try: import maixmem_auto") and new.endswith(_PROGRAM)
    compile(new, "boot.py", "exec")
    assert auto_line.with_lines(new) == new and auto_line.gc_heap_before(new) == 524288
    assert auto_line.without_lines(new) == _PROGRAM
    assert auto_line.gc_heap_before(auto_line.with_lines(b"")) is None


def test_a_line_of_the_user_is_left_alone() -> None:
    own = b"import maixmem_auto\n" + _PROGRAM
    assert auto_line.with_lines(own) == own == auto_line.without_lines(own)
    assert auto_line.with_lines(b"# import maixmem_auto\n") != b"# import maixmem_auto\n"


@pytest.mark.parametrize(
    ("more", "free", "peaks", "said"),
    [
        (32768, 2000000, [], True),
        (32768, 2000000, [1970000], False),  # it loads alone now
        (32768, 2000000, [1600000], False),  # it loads beside the camera now
        (32768, 2000000, [1500000, 2100000], True),  # the second does not load anyway
    ],
)
def test_the_gc_heap_takes_no_model_its_room(more, free, peaks, said) -> None:
    assert auto_line.is_free(more, free, peaks) == said


@pytest.mark.parametrize(
    ("there", "stays"),
    [
        ({"maixmem": _WHOLE, "maixmem_auto": 1, "KPU": _KPU}, True),
        ({"maixmem": _WHOLE, "maixmem_auto": 1}, False),
        ({"maixmem": 1, "maixmem_auto": 1, "maixmem_kpu": 1, "KPU": 1}, False),
        ({"maixmem": _WHOLE}, True),
        ({"maixmem": 1}, False),
        ({}, True),
    ],
)
def test_what_an_interrupted_start_left_half_imported_goes(there: dict, stays: bool) -> None:
    code: dict = {}
    exec((paths.TOOLS / "maixmem_cli/serial/on_board/library.py").read_text(), code)
    code["sys"] = SimpleNamespace(modules=dict(there))
    code["drop_half"]()
    left = [n for n in there if stays or not n.startswith("maixmem")]
    assert list(code["sys"].modules) == left


@pytest.mark.skipif(
    paths.micropython() is None or sys.platform == "win32",
    reason="no MicroPython unix port here: no fake board",
)
def test_install_and_remove_on_a_board(tmp_path: Path) -> None:
    with FakeBoard(tmp_path / "maix", "maix") as board:
        (board.root / "boot.py").write_bytes(_PROGRAM)
        done = json.loads(maixmem("auto", "--install", "--port", board.port, "--json"))
        heap = done["gc_heap"]
        assert done["changed"] and not done["findings"] and heap["now"] > heap["before"]
        boot = (board.root / "boot.py").read_bytes()
        assert boot == auto_line.with_lines(_PROGRAM, f", GC heap before: {heap['before']}")
        again = maixmem("auto", "--install", "--port", board.port)
        assert "imports maixmem_auto already" in again and "no findings" in again
        assert (board.root / "boot.py").read_bytes() == boot
        gone = json.loads(maixmem("auto", "--remove", "--port", board.port, "--json"))
        assert gone["changed"] and gone["gc_heap"] == heap["before"]
        assert [p.name for p in board.root.iterdir()] == ["boot.py"]
        assert (board.root / "boot.py").read_bytes() == _PROGRAM


@pytest.mark.skipif(
    paths.micropython() is None or sys.platform == "win32",
    reason="no MicroPython unix port here: no fake board",
)
def test_what_doctor_finds_after_it_is_shown(tmp_path: Path) -> None:
    (tmp_path / "v5.kmodel").write_bytes(b"LDMK" + (5).to_bytes(4, "little") + bytes(56))
    with FakeBoard(tmp_path / "maix", "maix", {0x300000: tmp_path / "v5.kmodel"}) as board:
        install = ("auto", "--install", "--port", board.port)
        causes = [
            f["cause"] for f in json.loads(maixmem(*install, "--json", status=1))["findings"]
        ]
        assert any("0x300000" in cause for cause in causes)
        shown = maixmem(*install, status=1)
        assert all(cause in shown for cause in causes)
