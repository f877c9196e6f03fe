# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem heap` on the Pico in software: unmodified MicroPython and CircuitPython images that
$MAIXMEM_FIRMWARE names, and such ones that are made to lack what a snapshot is usually taken
with."""

from __future__ import annotations

import less_firmware
import pico
import pytest
from emulated import THOROUGH, answer
from maixmem_cli.emulator.connect import connect
from maixmem_cli.serial.agent import NoSnapshot
from maixmem_cli.snapshot import take, view

IMAGES = pico.images() if THOROUGH else pico.images()[:1]
WHY = pico.missing() or ("" if IMAGES else "NO PICO: MAIXMEM_FIRMWARE names no .uf2 image")
pytestmark = pytest.mark.skipif(bool(WHY), reason=WHY)

PROGRAM = """
import gc
table = {'a': bytearray(5000)}
rows = [[i, 'row %d' % i] for i in range(30)]
"""
CAN = """
def can(m):
    try:
        __import__(m)
        return True
    except ImportError:
        return False
"""
USED = "gc.collect()\nprint(gc.mem_alloc())"


@pytest.fixture(scope="module", params=IMAGES or [None], ids=lambda p: p.stem if p else "none")
def board(request, tmp_path_factory):
    with pico.Pico(request.param, tmp_path_factory.mktemp("pico") / "flash.bin") as running:
        yield running


@pytest.mark.parametrize("without", [[], ["mem_info", "O"], ["uctypes", "mem_info", "O"]])
def test_who_holds_what_and_nothing_is_kept(board, without):
    """Of 5,000 bytes and 30 rows; a firmware that has nothing that reads memory is refused."""
    with connect(board.port) as repl:
        repl.soft_reset()
        repl.check(CAN + PROGRAM)
        reads = answer(repl, "print(can('uctypes') or can('memorymap'))")
        if without and (board.image.stem.startswith("circuit") or not reads):
            pytest.skip(f"{board.image.stem} lacks these already")
        less_firmware.hide(repl, without)
        if not reads:
            with pytest.raises(
                NoSnapshot, match=r"no uctypes, memorymap or machine.*Next: maixmem"
            ):
                take.of_board(repl)
            return
        found = {o.path: o for root in view.view(take.of_board(repl)).owners for o in root.all()}
        assert found["main.table"].nbytes > 5000 and found["main.table['a']"].nbytes < 5100
        assert found["main.rows[*]"].types["list"] == 30
        left = []
        for _ in range(3):
            take.of_board(repl)
            left.append(answer(repl, USED))
        assert len(set(left)) == 1, left
