# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a firmware image says of itself when it runs on the board in software; kept in the user's
cache."""

from __future__ import annotations

import hashlib
from pathlib import Path

from maixmem_cli.emulator.board import Board
from maixmem_cli.emulator.compiler import NoBoardHere, cache, version
from maixmem_cli.emulator.ports import SerialPort, at_prompt
from maixmem_cli.firmware import board_file
from maixmem_cli.firmware.board_file import BoardFile
from maixmem_cli.firmware.survey import QUESTIONS, survey
from maixmem_cli.flash.image import ImageError, build


def measure(image: Path) -> BoardFile:
    """Boots the image on a new board and queries it; the second time from the cache, if that is of
    the same board and the same questions. BoardError, OSError."""
    key = hashlib.sha256(image.read_bytes() + (QUESTIONS + version()).encode()).hexdigest()[:24]
    kept = cache() / "firmwares" / f"{key}.toml"
    try:
        return board_file.read(kept)
    except (OSError, ValueError):
        pass
    told = _queried(image)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(board_file.text(told, kept.name), encoding="utf-8")
    return told


def _queried(image: Path) -> BoardFile:
    """Of a board that nobody else has: what is on the flash of emu:IMAGE is the user's."""
    try:
        board = Board(build(image))
    except (ImageError, NoBoardHere) as e:
        raise OSError(str(e)) from e
    with board:
        return survey(at_prompt(SerialPort(board), image.name))
