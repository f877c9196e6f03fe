# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""With 1 to 8 KB of GC heap left on official firmware: advice, reports, a Watch and what
maixmem_auto refuses are said in words, short ones where need be, and no second error comes."""

from __future__ import annotations

from pathlib import Path

import kmodel_build
import pico
import pytest
import short_sweep
from commands import maixmem
from emulated import each_image, needs_cc, only_thorough
from maixmem_cli.emulator.connect import connect
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.serial.repl import RawRepl

pytestmark = only_thorough

_FILLS = [(left, in_one) for left in short_sweep.LEVELS for in_one in (False, True)]
_ASK = "fill({}, {})\nask()"


@needs_cc
@each_image
def test_a_k210(image: Path, tmp_path: Path) -> None:
    files = []
    layers = [("conv", 8, {"halve": True})] * 3 + [("conv", 30), ("dequantize",)]
    for address, nbytes in ((0x300000, 100_000), (0x400000, 5_900_000)):
        path = tmp_path / f"{nbytes}.kmodel"
        path.write_bytes(kmodel_build.v3((56, 56, 3), layers, main_mem=nbytes).to_bytes())
        files.append((address, path))
    found = []
    with booted(image, files, files_of_library()) as board:
        repl = RawRepl(image.name, SerialPort(board))
        repl.check(short_sweep.SCENARIO + short_sweep.REFUSALS + short_sweep.AUTO, timeout=60)
        whole = "".join(repl.run("ask()", timeout=60))
        ready = board.snapshot()
        for left, in_one in _FILLS:
            board.restore(ready)
            repl = RawRepl(image.name, SerialPort(board))
            said = "".join(repl.run(_ASK.format(left, in_one), timeout=60))
            found += [(left, in_one, wrong) for wrong in short_sweep.judge(said, whole, left)]
    assert not found, found


@pytest.mark.skipif(bool(pico.missing()), reason=pico.missing())
@pytest.mark.parametrize("image", pico.images(), ids=lambda p: p.stem)
def test_a_pico(image: Path, tmp_path: Path) -> None:
    found = []
    with pico.Pico(image, tmp_path / "flash.bin") as board:
        maixmem("deploy", "--port", board.port)
        with connect(board.port) as repl:
            repl.soft_reset()
            repl.check(short_sweep.SCENARIO + short_sweep.REFUSALS, timeout=120)
            whole = "".join(repl.run("ask()", timeout=120))
        for left in short_sweep.LEVELS:
            with connect(board.port) as repl:
                repl.soft_reset()
                repl.check(short_sweep.SCENARIO + short_sweep.REFUSALS, timeout=120)
                said = "".join(repl.run(_ASK.format(left, False), timeout=120))
            found += [(left, wrong) for wrong in short_sweep.judge(said, whole, left)]
    assert not found, found
