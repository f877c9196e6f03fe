# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Random programs on the firmware: what the library says of loads and cameras is what the firmware
then does, to the byte, and what it refuses does not work without it.

$MAIXMEM_SEQUENCES is how many programs a build gets, $MAIXMEM_SEED the first seed; the seed of a
failure is in its text. $MAIXMEM_VERDICTS is how many frame sizes a build is asked about.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import emulated
import pytest
import random_programs
from emulated import each_image, needs_cc
from maixmem_cli.emulator import pictures
from maixmem_cli.emulator.board import Board

pytestmark = needs_cc

SEQUENCES = int(os.environ.get("MAIXMEM_SEQUENCES", "20" if emulated.THOROUGH else "2"))
SEED = int(os.environ.get("MAIXMEM_SEED", "0"))
VERDICTS = int(os.environ.get("MAIXMEM_VERDICTS", "20"))


@pytest.fixture
def board(image: Path) -> Iterator[Board]:
    """One that every program puts back to its start."""
    starts, *_ = random_programs.base(image)
    with Board(starts[0], camera=pictures.film("pattern")) as board:
        yield board


@pytest.mark.parametrize("seed", range(SEED, SEED + SEQUENCES))
@each_image
def test_verdicts_are_what_the_firmware_does(image: Path, seed: int, board: Board) -> None:
    random_programs.Player(image, seed, board).play()


@each_image
def test_a_verdict_on_a_camera_is_what_it_does(image: Path, board: Board) -> None:
    asked, seed, said = 0, SEED, Counter[tuple[str, str]]()
    while asked < VERDICTS:
        player = random_programs.CameraPlayer(image, seed, board)
        player.play()
        asked += player.verdicts_on_cameras()
        said.update(player.verdicts)
        seed += 1
    print(f"{image.stem}: seeds {SEED} to {seed - 1}: {dict(said)}")
