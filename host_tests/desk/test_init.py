# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem init`: what it writes for each board fits, runs and passes its own test; --board gives
a script that board's pins."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import maixmem_kmodel
import paths
import pytest
from commands import invoke, maixmem
from maixmem_cli.firmware.boards import BOARDS
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.plan import starter
from maixmem_cli.plan.program.project import EXAMPLE, EXAMPLE_MODEL

needs_micropython = pytest.mark.skipif(
    paths.micropython() is None, reason="NO MICROPYTHON: the stand-in has no unix port here"
)
_PINS = "import Maix\nfrom board import board_info\nprint(board_info.LED_R, board_info.LED_B)\n"


@pytest.mark.parametrize("name", BOARDS)
def test_a_starter_fits(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "new"
    assert "Next: cd " in maixmem("init", str(folder), "--board", name)
    assert "FITS" in maixmem("fit", str(folder / "project.toml"))
    readme, board = (folder / "README.md").read_text(), BOARDS[name]
    assert board.title in readme and f"-B {board.kflash} " in readme and board.image in readme
    assert f"--board {name} " in readme and "{" not in readme
    assert f'"--board", "{name}"' in (folder / "test_main.py").read_text()
    nbytes = (folder / "one.kmodel").stat().st_size
    script = (folder / "main.py").read_text()
    told = "# nbytes: " in script, script.count(f"000, nbytes={nbytes})\n")
    assert told == ((False, 0) if board.reads_flash else (True, 2)) and "{" not in script
    again = invoke("init", str(folder))
    assert again.exit_code == 2 and "there already. Next: another folder" in again.stderr


def test_a_bare_project_fits(tmp_path: Path) -> None:
    """With the example's model, or with one that is there already."""
    assert "Next: cd " in maixmem("init", str(tmp_path / "new"), "--bare")
    path = tmp_path / "new" / "project.toml"
    assert path.read_text("utf-8") == EXAMPLE and "FITS" in maixmem("fit", str(path))
    model = path.with_name(EXAMPLE_MODEL)
    header = maixmem_kmodel.read_info(str(model))
    assert header.unsupported_reason(FIRMWARES["full"].capabilities()) is None
    assert header.nbytes == header.size
    again = invoke("init", str(path.parent), "--bare")
    assert again.exit_code == 2 and "there already. Next: another folder" in again.stderr
    path.unlink()
    model.write_bytes(b"mine")
    assert maixmem("init", str(path.parent), "--bare").startswith("wrote project.toml. Next: ")
    assert model.read_bytes() == b"mine"


@needs_micropython
def test_its_own_test_passes(tmp_path: Path) -> None:
    maixmem("init", str(tmp_path), "--board", "m5stickv")
    where = os.pathsep.join(map(str, (paths.TOOLS, *paths.DEVICE_PATH)))
    environment = {k: v for k, v in os.environ.items() if k != "MAIXMEM_FIRMWARE"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": where},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    assert "NO FIRMWARE: give pytest --k210-firmware=IMAGE" in done.stdout


@needs_micropython
def test_pins_on_the_stand_in(tmp_path: Path) -> None:
    script = tmp_path / "pins.py"
    script.write_text(_PINS)
    done = subprocess.run(
        [sys.executable, "-m", "maixmem_cli", "sim", str(script), "--board", "dock"],
        cwd=paths.TOOLS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "14 12\n", done.stderr


def test_kflash_takes_the_option() -> None:
    """The choices of kflash 1.1.6, its own list."""
    choices = {"kd233", "dan", "bit", "bit_mic", "goE", "goD", "maixduino", "trainer"}
    assert {board.kflash for board in BOARDS.values()} <= choices


def test_pins_can_be_pins() -> None:
    for board in BOARDS.values():
        assert board.pins and all(0 <= pin < 48 for pin in board.pins.values())


def test_the_workflow_is_that_of_the_examples() -> None:
    ours = (paths.ROOT / "examples" / "ci" / "memory.yml").read_bytes()
    assert starter.whole("bit")["memory.yml"] == ours
