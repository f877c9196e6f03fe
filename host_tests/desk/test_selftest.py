# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem selftest` on a board behind a pty: what it says, what it writes, and that nothing stays
there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import kmodel_build
import paths
import pytest
from commands import invoke
from fakeboard import FakeBoard
from maixmem_cli.board import selftest
from maixmem_cli.serial.identity import Identity

pytestmark = pytest.mark.skipif(
    paths.micropython() is None or sys.platform == "win32",
    reason="no MicroPython unix port here: no fake board",
)


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    folder = tmp_path_factory.mktemp("selftest")
    model = folder / "m.kmodel"
    layers = [("conv", 16), ("dequantize",)]
    model.write_bytes(kmodel_build.v3((28, 28, 1), layers).to_bytes())
    with FakeBoard(folder / "maix", "maix", {0x300000: model}) as board:
        yield board


def on(board) -> list[Path]:
    return sorted(p for p in board.root.rglob("*") if p.is_file())


def test_a_visit_says_what_it_found_and_leaves_nothing(board, tmp_path: Path) -> None:
    before = on(board)
    file = tmp_path / "selftest.json"
    done = invoke("selftest", "--port", board.port, "image_bytes", "--json", str(file))
    assert done.exit_code == 0, done.output
    assert on(board) == before
    told = json.loads(file.read_text(encoding="utf-8"))
    assert [row[1] for row in told["table"]] == ["fine"] * len(told["table"])
    (model,) = told["models"]
    assert model["took"] == model["need"] > 0 and model["exact"] and model["address"] == 0x300000
    heap = told["heap"]["system heap at the start"]
    assert heap["exact"] and heap["said"] == heap["heap_free"] <= heap["free"]
    assert set(told["tests"]) == {"test_image_bytes"} and told["left"] == []
    assert {kind for kind, _ in told["tests"]["test_image_bytes"].values()} == {"PASS"}
    for row in told["table"]:
        assert row[0] in done.output


def test_another_version_on_the_board_is_left_as_it_is(board) -> None:
    there = board.root / "maixmem_pool.py"
    there.write_bytes(b"another")
    before = {p: p.read_bytes() for p in on(board)}
    done = invoke("selftest", "--port", board.port, "--quick")
    assert done.exit_code == 1 and there.name in done.stderr and "another version" in done.stderr
    assert {p: p.read_bytes() for p in on(board)} == before
    there.unlink()


def test_no_test_of_that_name(board) -> None:
    done = invoke("selftest", "--port", board.port, "nonsense")
    assert done.exit_code == 1 and "nonsense" in done.stderr


LOAD = {"need": 100, "peak": 200, "free": 5000, "took": 100, "exact": True, "back": 5000}


@pytest.mark.parametrize(
    ("change", "result", "said"),
    [
        ({}, "fine", "foretold 100 bytes, took 100"),
        ({"exact": False}, "FAULT", "other than foretold"),
        ({"back": 4000}, "FAULT", "-1000 free more"),
        ({"shortage": "too large"}, "not run", "too large"),
    ],
)
def test_a_load_that_is_not_as_foretold(monkeypatch, change, result, said) -> None:
    who = Identity("micropython", (0, 6, 2), "MaixPy", "", "", None, (), "/", 0, "k210")
    monkeypatch.setattr(selftest, "identity", lambda board: who)
    monkeypatch.setattr(selftest, "ask", lambda *args: {**LOAD, **change})
    visit = selftest.Selftest(None)  # type: ignore[arg-type]
    visit.model(0x300000)
    ((check, found, figures),) = visit.rows
    assert (check, found) == ("model at 0x300000", result) and said in figures
