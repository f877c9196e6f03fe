# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a firmware image says of itself when it runs on the board in software; kept in the user's
cache."""

from __future__ import annotations

import hashlib
from pathlib import Path

from maixmem_cli.emulator.compiler import cache, version
from maixmem_cli.emulator.connect import connect
from maixmem_cli.firmware import board_file
from maixmem_cli.firmware.board_file import BoardFile
from maixmem_cli.firmware.survey import QUESTIONS, survey


def measure(image: Path) -> BoardFile:
    """Boots the image on a new board and queries it; the second time from the cache, if that is of
    the same board and the same questions. BoardError, OSError."""
    key = hashlib.sha256(image.read_bytes() + (QUESTIONS + version()).encode()).hexdigest()[:24]
    kept = cache() / "firmwares" / f"{key}.toml"
    try:
        return board_file.read(kept)
    except (OSError, ValueError):
        pass
    board = connect(f"emu:{image},new")
    try:
        told = survey(board)
    finally:
        board.close()
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(board_file.text(told, kept.name), encoding="utf-8")
    return told
