# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The kit that runs scripts on the stand-in and on a firmware; its own scripts print on the
stand-in what the full build of v0.6.2_84 was seen to print, and it still does.

The last needs $MAIXMEM_FIRMWARE: files, or folders with files, of that build."""

from __future__ import annotations

from pathlib import Path

import paths
import pytest
import sim_both
import two_boards
from maixmem_cli.library import places

_FOLDER = paths.KITS / "board_scripts"
_SCRIPTS = sorted(_FOLDER.glob("*.py"))
_EACH = pytest.mark.parametrize("script", _SCRIPTS, ids=[p.stem for p in _SCRIPTS])


def test_ends_are_alike_but_for_some_garbage() -> None:
    said = "MM_END gc_free %d heap_free %d\n"
    ours = two_boards.end("exit 0", said % (500000, 2437120))
    assert ours.like(two_boards.end("exit 0", said % (490000, 2437120)))
    other = two_boards.end("exit 0", said % (300000, 2437120))
    assert not ours.like(other) and ours.but_for_garbage(other)
    for status, text in (
        ("exit 1", said % (500000, 2437120)),
        ("exit 0", said % (500000, 2437124)),
        ("exit 0", "ValueError: x\n" + said % (500000, 2437120)),
        ("exit 0", "@ 5\n" + said % (500000, 2437120)),
    ):
        other = two_boards.end(status, text)
        assert not ours.like(other) and not ours.but_for_garbage(other)


def test_hangs_are_alike_where_the_line_is() -> None:
    hang = "maixmem: the board hangs\nmaixmem: at a.py:%d: f()\nmaixmem: called by a.py:9: g()\n"
    first, same, other = (two_boards.end("exit 3", hang % n) for n in (3, 3, 4))
    assert first.line == "a.py:3" and first.like(same) and not first.like(other)


def test_a_copy_ends() -> None:
    copy = two_boards.bounded("while True:\r\n    x()\r\n")
    assert copy.startswith("for _mmn in range(3):\n    x()\n") and "MM_END" in copy


def _lines(script: Path, board: str, folder: Path) -> list[str]:
    card = folder / "sd"
    card.mkdir()
    options = ["--firmware", board, "--sd", str(card)]
    options += ["--camera", "pattern"] if Path(board).is_file() else []
    ended, said = two_boards.sim(script, options, 300)
    assert ended.status == "exit 0", said
    return list(ended.lines)


@pytest.mark.skipif(places.micropython() is None, reason="no MicroPython unix port")
@_EACH
def test_the_stand_in_prints_what_the_firmware_did(script: Path, tmp_path: Path) -> None:
    assert _lines(script, "full", tmp_path) == script.with_suffix(".txt").read_text().splitlines()


@pytest.mark.skipif(sim_both.firmware("full") is None, reason=sim_both.NO_IMAGE)
@_EACH
def test_the_firmware_prints_what_it_did(script: Path, tmp_path: Path) -> None:
    found = _lines(script, str(sim_both.firmware("full")), tmp_path)
    assert found == script.with_suffix(".txt").read_text().splitlines()
