# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A model of YOLO is freed on firmware, and a walk from outside finds every size of malloc's lists
as it was: bare, the firmware clears one."""

from __future__ import annotations

from pathlib import Path

import emulated
import pytest
import thread_programs
from emulated import each_image, needs_cc
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.heap import heaps
from maixmem_cli.serial.repl import RawRepl

pytestmark = needs_cc

_LOAD = """
import gc, KPU
ANCHORS = (1.889, 2.525, 2.947, 3.941, 4.0, 5.366, 5.155, 6.923, 6.718, 9.01)
nets = []
for address in (0x300000, 0x400000, 0x500000):
    nets.append(KPU.load(address))
    KPU.init_yolo2(nets[-1], 0.5, 0.3, 5, ANCHORS)
"""
_FREE = "KPU.deinit(nets[{}])"
_MANAGER = """
import gc
from maixmem_models import ModelManager
ANCHORS = (1.889, 2.525, 2.947, 3.941, 4.0, 5.366, 5.155, 6.923, 6.718, 9.01)
m = ModelManager(keep=3)
more = "flash_read" in m.port.lacks
for i, address in enumerate((0x300000, 0x400000, 0x500000)):
    how = {"nbytes": SIZES[i]} if more else {}
    m.add(i, address, lambda net: net.init_yolo2(0.5, 0.3, 5, ANCHORS), **how)
    m.use(i)
"""
_RELEASE = "m.release({})"
ORDERS = ((0, 1, 2), (1, 0, 2), (2, 0, 1))


@each_image
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_every_size_stays(image: Path, order: tuple[int, ...], tmp_path: Path) -> None:
    models = thread_programs.models(tmp_path)[:3]
    sizes = [path.stat().st_size for _, path in models]
    programs = {
        "bare": (_LOAD, _FREE),
        "manager": (_MANAGER, _RELEASE),
        "auto": ("import maixmem_auto\n" + _LOAD, _FREE),
    }
    wrong: dict[str, list[int]] = {}
    with booted(image, models, files_of_library()) as board:
        start = board.snapshot()
        for name, (load, free) in programs.items():
            board.restore(start)
            finder = heaps.Finder()
            finder.system(board.ram)
            repl = RawRepl(image.name, SerialPort(board))
            repl.check(f"SIZES = {sizes}\n{load}", timeout=60)
            wrong[name] = []
            for i in order:
                repl.check(free.format(i), timeout=60)
                wrong[name] += thread_programs.unlike(board.ram, finder.system(board.ram))
            if name == "manager":
                said = emulated.answer(repl, "p = m.port\np.free_bytes()\nprint(p.warning)")
                assert said is None
    assert wrong["manager"] == wrong["auto"] == [], wrong
    print(f"{image.name} {order}: bare leaves {len(wrong['bare'])} sizes of free chunks wrong")
