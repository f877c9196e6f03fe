# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""YOLO in a thread on firmware: it runs, or is refused with numbers, and the walk from outside
finds the system heap whole. Bare, a thread with too little stack writes past its end."""

from __future__ import annotations

import contextlib
from pathlib import Path

import emulated
import kmodel_build
import pytest
from emulated import each_image, needs_cc
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.heap import heaps
from maixmem_cli.serial.repl import BoardError, RawRepl

pytestmark = needs_cc

_SHAPES = ((7, 7, 1), (10, 7, 1), (20, 15, 1), (7, 7, 20))  # cells, classes
_STARTED = 1800  # bytes that the thread and its calls take before run_yolo2()
_START = """
import gc, time, image, KPU
try:
    import _thread
except ImportError:
    _thread = None
ANCHORS = (1.889, 2.525, 2.947, 3.941, 4.0, 5.366, 5.155, 6.923, 6.718, 9.01)
img = image.Image(size=({w}, {h}))
img.pix_to_ai()
done = []
def work():
    try:
        for i in range(3):
            done.append(run())
    except Exception as e:
        done.append(str(e))
    done.append("end")
def thread(stack=None):
    done.clear()
    if stack:
        _thread.stack_size(stack)
    _thread.start_new_thread(work, ())
    for i in range(1000):
        if done and done[-1] == "end":
            break
        time.sleep_ms(10)
    print(done)
"""
_MANAGER = """
from maixmem_models import ModelManager
m = ModelManager()
how = {"nbytes": NBYTES} if "flash_read" in m.port.lacks else {}
m.add("f", 0x300000, lambda net: net.init_yolo2(0.5, 0.3, 5, ANCHORS), **how)
m.use("f")
def run():
    return m.use("f").run_yolo2(img)
"""
_AUTO = """
import maixmem_auto
import KPU
net = KPU.load(0x300000)
KPU.init_yolo2(net, 0.5, 0.3, 5, ANCHORS)
def run():
    return KPU.run_yolo2(net, img)
"""


def model(folder: Path, w: int, h: int, classes: int) -> Path:
    """A V3 model with an output of w x h cells, 5 anchors."""
    layers = [("conv", 8, {"halve": True})] * 3 + [("conv", 25 + 5 * classes), ("dequantize",)]
    path = folder / "yolo.kmodel"
    path.write_bytes(kmodel_build.v3((8 * w, 8 * h, 3), layers).to_bytes())
    return path


@each_image
@pytest.mark.parametrize("program", [_MANAGER, _AUTO], ids=["manager", "auto"])
@pytest.mark.parametrize("shape", _SHAPES, ids=str)
def test_it_runs_or_is_refused(
    image: Path, program: str, shape: tuple[int, int, int], tmp_path: Path
) -> None:
    w, h, classes = shape
    takes = 16 * w * h * 5 + 2048  # measured: 1,844 to 1,876 and 16 for each box
    files = [(0x300000, model(tmp_path, w, h, classes))]
    with booted(image, files, files_of_library()) as board:
        finder = heaps.Finder()
        finder.system(board.ram)
        repl = RawRepl(image.name, SerialPort(board))
        repl.check(_START.format(w=8 * w, h=8 * h), timeout=60)
        repl.check(f"NBYTES = {files[0][1].stat().st_size}")
        if not emulated.answer(repl, "print(_thread is not None)"):
            pytest.skip(f"{image.name} has no threads")
        repl.check(program, timeout=60)
        if classes > 1 and emulated.answer(repl, "import maixmem\nprint(maixmem.port().lacks)"):
            pytest.skip(f"{image.name} reads no flash: it has the stack of an output with 1 class")
        for stack in (None, 8192, 12345, 16384, 24576, 32768, 65536):
            done = emulated.answer(repl, f"thread({stack})")
            if stack and program == _AUTO:
                stack = max(stack, 12288) + 4096
            if stack is None or stack > takes + _STARTED:
                assert done == [None, None, None, "end"], (stack, done)
            elif stack < takes:
                assert len(done) == 2, (stack, done)
                assert f"takes {takes} bytes of this thread's stack" in done[0], done
                assert "are left: start the thread after init_yolo2()" in done[0], done
            finder.system(board.ram)  # Damaged, where it is not whole


_BARE = """
net = KPU.load(0x300000)
KPU.init_yolo2(net, 0.5, 0.3, 5, ANCHORS)
def run():
    return KPU.run_yolo2(net, img)
"""


@each_image
def test_bare_it_damages_the_heap_as_one_who_comes_later_sees_too(
    image: Path, tmp_path: Path
) -> None:
    w, h, classes = 20, 15, 1
    with booted(image, [(0x300000, model(tmp_path, w, h, classes))]) as board:
        before = heaps.Finder()
        before.system(board.ram)
        repl = RawRepl(image.name, SerialPort(board))
        repl.check(_START.format(w=8 * w, h=8 * h), timeout=60)
        if not emulated.answer(repl, "print(_thread is not None)"):
            pytest.skip(f"{image.name} has no threads")
        repl.check(_BARE, timeout=60)
        with contextlib.suppress(BoardError):  # it may hang
            repl.run("thread(8192)", timeout=20)
        with pytest.raises(heaps.Damaged) as said:
            before.system(board.ram)
        with pytest.raises(heaps.Damaged) as anew:
            heaps.Finder().system(board.ram)
        assert str(anew.value) == str(said.value)


_OVERFLOW = """
def run():
    done.append(m.use("f").run_yolo2(img))
    at = _thread.get_ident() - 0x80000000 >> 2
    words = m.port.heap.words
    i = (words[at] - 0x80000000 - 32504 >> 2) - 2
    before = words[i]
    words[i] = 0x3F000000  # half a box, as a float
    try:
        return m.use("f").run_yolo2(img)
    finally:
        words[i] = before
"""


@each_image
def test_what_was_written_past_the_end_is_said(image: Path, tmp_path: Path) -> None:
    files = [(0x300000, model(tmp_path, 7, 7, 1))]
    with booted(image, files, files_of_library()) as board:
        repl = RawRepl(image.name, SerialPort(board))
        repl.check(_START.format(w=56, h=56), timeout=60)
        repl.check(f"NBYTES = {files[0][1].stat().st_size}")
        if not emulated.answer(repl, "print(_thread is not None)"):
            pytest.skip(f"{image.name} has no threads")
        repl.check(_MANAGER + _OVERFLOW, timeout=60)
        done = emulated.answer(repl, "thread(32768)")
        assert done[0] is None and "past the end of this thread's stack" in done[1], done
