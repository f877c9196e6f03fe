# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a new user types: every command of README and of the tutorial, line by line, in an empty
folder, with the wheel alone; and what they print is what the page shows.

README_ZH.md has the same blocks and the same samples (test_readme.py). The two commands for a
clone run in test_readme.py too.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import emulated
import paths
import pytest
import wheel
from cable import Cable
from fakeboard import FakeBoard
from manual import DOCS, README, WALKS, fill
from readme_blocks import Block, blocks, shows

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or paths.micropython() is None,
    reason="NO COMMANDS FROM THE WHEEL: they need bash and the MicroPython unix port",
)

#: where the pages say that a board is, and what the user's firmware is called
_PORT, _IMAGE = re.compile(r"/dev/tty(?:USB|ACM)0"), "maixpy.bin"
#: what is run in a clone, and what `desk` has done
_ELSEWHERE = ("python3 tools/dev.py ", "-m venv ", "/activate", "pip install ")
#: exit statuses that a reader meets where nothing is wrong: a board without a cable, findings
_STATUS = dict.fromkeys(("maixmem ports", "maixmem doctor", "maixmem profile"), (0, 1))
_ENDLESS = "maixmem top "
_FLASH = {0x300000: "one.kmodel", 0x400000: "two.kmodel"}

_START = DOCS / "start_k210.md"
#: start pages of boards with a serial port, and the kind of FakeBoard that stands for theirs
_STARTS = {"micropython": "modern", "openmv": "openmv", "k230": "k230"}


def commands(page: Path) -> list[Block]:
    """The blocks of a page that a reader types: command lines, and files."""
    return [block for block in blocks(page) if block.language == "sh" or block.file]


def installed(page: Path) -> list[str]:
    """What the page's pip lines install of this project: "[extras]" or ""."""
    text = "".join(block.text for block in commands(page))
    return re.findall(r'pip install "?(?:maixmem|\.)(\[[\w,]+\])?', text)


@pytest.fixture
def desk(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> wheel.Desk:
    """An empty folder and the wheel, installed as README says."""
    extras = installed(README)
    assert extras, "README does not say how to install it"
    shared = tmp_path_factory.getbasetemp()
    if shared.name.startswith("popen-"):  # of one of several processes
        shared = shared.parent
    folder = tmp_path / "empty"
    folder.mkdir()
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return wheel.Desk(wheel.once(shared / "wheel", extras[0]), folder, **home)


class Walk:
    """The commands of a page, in their order. `plug(folder)` connects a board, once, when a line
    first names a port, and gives the port's name; the folder is where the page has come to."""

    def __init__(self, desk: wheel.Desk, plug: Callable[[Path], str], image: Path | None) -> None:
        self.desk, self._plug, self._image = desk, plug, image
        self._port = ""
        self.ran = 0

    def block(self, block: Block) -> None:
        """Runs the lines of a block, and holds what they print against what the page shows."""
        if block.file:
            (self.desk.folder / block.file).write_text(block.text, encoding="utf-8")
            return
        mine = [line for line in block.lines if self._can_run(line)]
        printed = "".join(self._line(line, block) for line in mine)
        for sample in block.samples if mine == block.lines else ():
            assert shows(printed, sample), f"{sample}\nis not in\n{printed}"

    def _can_run(self, line: str) -> bool:
        """False: it is run in a clone, or with an image, or was done before."""
        elsewhere = any(command in line for command in _ELSEWHERE)
        return not elsewhere and (self._image is not None or _IMAGE not in line)

    def _line(self, line: str, block: Block) -> str:
        if _PORT.search(line) and not self._port:
            self._port = self._plug(self.desk.folder)
        if _IMAGE in line and self._image:
            shutil.copy(self._image, self.desk.folder / _IMAGE)
        typed = _PORT.sub(self._port, line)
        if line.startswith(_ENDLESS):
            typed += " --count 1"
        status, text = self.desk.run(typed)
        fine = next((s for name, s in _STATUS.items() if line.startswith(name)), (0,))
        if status not in fine:  # then it found what the page shows
            found = any(shows(text, sample) for sample in block.samples)
            assert found, f"{line}: {status}\n{text}"
        assert "site-packages" not in text, f"{line}: our own files, to nobody's use:\n{text}"
        self.ran += 1
        return text


@pytest.mark.parametrize("page", WALKS, ids=lambda p: p.stem)
def test_every_command_in_an_empty_folder(page: Path, desk: wheel.Desk, tmp_path: Path) -> None:
    """The board is the stand-in behind a pseudo-terminal; lines with the user's firmware are left
    to the next test."""
    with contextlib.ExitStack() as plugs:

        def plug(folder: Path) -> str:
            flash = {address: folder / name for address, name in _FLASH.items()}
            board = FakeBoard(tmp_path / "board", "maix", flash, firmware="minimum")
            return plugs.enter_context(board).port

        walk = Walk(desk, plug, None)
        for block in commands(page):
            walk.block(block)
    assert walk.ran > 5


@emulated.only_thorough
@pytest.mark.parametrize("page, kind", _STARTS.items())
def test_start_page(page: str, kind: str, desk: wheel.Desk, tmp_path: Path) -> None:
    """Its commands on its kind of board."""
    with FakeBoard(tmp_path / "board", kind) as board:
        walk = Walk(desk, lambda folder: board.port, None)
        for block in commands(DOCS / f"start_{page}.md"):
            walk.block(block)
    assert walk.ran > 5


@emulated.needs_cc
@emulated.needs_image
@emulated.only_thorough
@pytest.mark.parametrize("page", [*WALKS, _START], ids=lambda p: p.stem)
def test_every_command_with_a_firmware(page: Path, desk: wheel.Desk, tmp_path: Path) -> None:
    """On the board in software, with the lines that need an image as well; the start page with a
    user's files."""
    image = next((i for i in emulated.IMAGES if "minimum" in i.name), emulated.IMAGES[0])
    flash = dict(_FLASH)
    if page == _START:
        users = fill(desk.folder)
        flash = {at: users[at].name for at in (0x300000, 0x600000)}
    with contextlib.ExitStack() as plugs:

        def plug(folder: Path) -> str:
            files = "".join(f",{folder / name}@{hex(at)}" for at, name in flash.items())
            return plugs.enter_context(Cable(f"emu:{image},new{files}", tmp_path / "port"))

        walk = Walk(desk, plug, image)
        for block in commands(page):
            walk.block(block)
    assert walk.ran > 5
