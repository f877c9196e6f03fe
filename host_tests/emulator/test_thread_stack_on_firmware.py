# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The stack of a thread under maixmem_auto on firmware, which crashes where malloc has none:
models go for it, or NoRoom says the numbers, and a walk from outside finds the heap whole."""

from __future__ import annotations

from pathlib import Path

import emulated
import kmodel_build
import pytest
import thread_programs
from emulated import each_image, needs_cc
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.heap import heaps
from maixmem_cli.serial.repl import RawRepl

pytestmark = needs_cc

_SIZES = (1_200_000, 600_000, 400_000, 200_000, 100_000)  # of the models, the largest first
_FULL = """
import gc, time, image
try:
    import _thread
except ImportError:
    _thread = None
import maixmem_auto
import KPU, maixmem
if _thread:
    import _thread
img = image.Image(size=(56, 56))
img.pix_to_ai()
port = maixmem.port()
nets, begun, over = [], [], []
def values(net):
    made = KPU.forward(net, img)
    return [made[i] for i in range(3)]
for i, size in enumerate({sizes}):
    port.free_bytes()
    if port.largest > size + 150000:
        nets.append(KPU.load(0x300000 + 0x100000 * i))
        values(nets[-1])
before = [values(net) for net in nets]
def work():
    begun.append(1)
    while not over:
        time.sleep_ms(5)
def begin(stack):
    begun.clear()
    _thread.stack_size(stack)
    time.sleep_ms(3)  # without room the firmware crashes after this
    _thread.start_new_thread(work, ())
    for i in range(100):
        if begun:
            return True
        time.sleep_ms(10)
    return False
"""
_LARGE = """
port.free_bytes()
n = min(port.largest - 1000, 500000)
ran = begin(n)
over.append(1)
print([n, ran, _thread.stack_size() == n, [values(net) for net in nets] == before])
"""
_MANY = """
over.clear()
error = None
for i in range(20):
    try:
        if not begin(500000):
            break
    except MemoryError as e:
        error = e
        break
print([i, error.region, error.need, error.free, str(error)])
"""


@each_image
def test_a_thread_has_its_stack_or_is_refused(image: Path, tmp_path: Path) -> None:
    layers = [("conv", 8, {"halve": True})] * 3 + [("conv", 30), ("dequantize",)]
    files = []
    for i, size in enumerate(_SIZES):
        path = tmp_path / f"{size}.kmodel"
        path.write_bytes(kmodel_build.v3((56, 56, 3), layers, main_mem=size).to_bytes())
        files.append((0x300000 + 0x100000 * i, path))
    with booted(image, files, files_of_library()) as board:
        finder = heaps.Finder()
        finder.system(board.ram)
        repl = RawRepl(image.name, SerialPort(board))
        repl.check(_FULL.format(sizes=_SIZES), timeout=60)
        if not emulated.answer(repl, "print(_thread is not None)"):
            pytest.skip(f"{image.name} has no threads")
        n, ran, kept, same = emulated.answer(repl, _LARGE)
        assert ran and kept and same, (n, ran, kept, same)
        finder.system(board.ram)
        started, region, need, free, said = emulated.answer(repl, _MANY)
        assert started and region == "stack" and need == 500000 > free, said
        assert "500000 bytes of stack" in said and f"{free} are free" in said, said
        finder.system(board.ram)


@each_image
@pytest.mark.parametrize("seed", [18, 1014, 1024])  # two threads; a timer calls in one with 4 KB
def test_a_program_with_threads_leaves_the_heap_whole(image: Path, seed: int) -> None:
    for _, word, _, auto in thread_programs.verdicts(image, range(seed, seed + 1)):
        assert auto.done and auto.whole, (word, auto)
