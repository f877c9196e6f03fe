# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Timer callbacks that call the manager, or a KPU of maixmem_auto, on firmware: in the middle of a
load they are refused, and the load goes on and is right. Ctrl-C ends the program in between."""

from __future__ import annotations

import ast
from pathlib import Path

import emulated
import pytest
from emulated import each_image, needs_cc, only_thorough
from maixmem_cli.emulator.board import Board
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.serial.repl import RawRepl

pytestmark = needs_cc

MODELS = ((0x300000, "v3_face_ld5.kmodel"), (0x500000, "v3_mnist_maixpy.kmodel"))
_SCRIPT = """
import time, machine, gc
from maixmem_models import ModelManager
m = ModelManager()
m.add("a", 0x300000)
m.add("b", 0x500000)
asked = [0, 0, 0]
other = []
def tick(timer):
    asked[0] += 1
    try:
        m.use("b" if asked[0] & 1 else "a")
        asked[1] += 1
    except RuntimeError as e:
        asked[2] += 1
        if "is being loaded or freed: use() in the main loop" not in str(e):
            other.append(repr(e))
    except BaseException as e:
        other.append(repr(e))
timer = machine.Timer(machine.Timer.TIMER0, machine.Timer.CHANNEL0,
    mode=machine.Timer.MODE_PERIODIC, period={period}, unit=machine.Timer.UNIT_MS, callback=tick)
right = 0
for i in range(20):
    name = "ab"[i & 1]
    net = m.use(name)
    if net.name == name:
        right += 1
    time.sleep_ms(5)
timer.deinit()
m.release_all()
print((right, asked[0], asked[2], other, m.busy))
"""


@each_image
@pytest.mark.parametrize("period", [20, 60, 200, 700])
def test_a_callback_during_a_load(image: Path, period: int) -> None:
    models = [(address, emulated.model(name)) for address, name in MODELS]
    with booted(image, models, files_of_library()) as board:
        repl = RawRepl(image.name, SerialPort(board))
        out = repl.check(_SCRIPT.format(period=period), timeout=120).strip().splitlines()
    right, asked, refused, other, busy = ast.literal_eval(out[-1])
    assert (right, other, busy) == (20, [], None), out
    assert (asked > 0 or period > 200) and (refused > 0 or period > 60), out


_TICKS = """
import machine
n = [0]
def tick(timer):
    n[0] += 1
    try:
        {call}
    except Exception:
        pass
timer = machine.Timer(machine.Timer.TIMER0, machine.Timer.CHANNEL0,
    mode=machine.Timer.MODE_PERIODIC, period={period}, unit=machine.Timer.UNIT_MS, callback=tick)
print("begun")
try:
    while True:
        {loop}
finally:
    timer.deinit()
"""
_BARE = "import KPU\n"
_MANAGER = """
from maixmem_models import ModelManager
m = ModelManager()
m.add("a", 0x300000)
m.add("b", 0x500000)
"""
_AUTO = "import maixmem_auto\nimport KPU\n"
_LOADS = "for at in (0x300000, 0x500000): KPU.deinit(KPU.load(at))"
_RUNS = "for at in (0x300000, 0x500000): net = KPU.load(at); KPU.netinfo(net); KPU.deinit(net)"
#: what begins, what the loop does, what the callback does
INTERRUPTED = {
    "bare": (_BARE, _LOADS, "[i * i for i in range(100)]"),
    "manager": (_MANAGER, "m.use('a'); m.use('b')", "m.use('ab'[n[0] & 1])"),
    "auto": (_AUTO, _RUNS, "KPU.load(0x300000)"),
}
_WITHIN = 1.0  # seconds of the board's clock


@only_thorough
@each_image
@pytest.mark.parametrize("program", INTERRUPTED)
@pytest.mark.parametrize("period", [20, 60, 200, 700])
def test_ctrl_c_ends_a_program_with_a_timer(image: Path, period: int, program: str) -> None:
    start, loop, call = INTERRUPTED[program]
    models = [(address, emulated.model(name)) for address, name in MODELS]
    with booted(image, models, files_of_library()) as board:
        port = SerialPort(board)
        repl = RawRepl(image.name, port)
        if program == "manager" and "heap_free" not in repl.check(
            "import Maix; print(dir(Maix.utils))"
        ):
            pytest.skip(f"{image.name} reads no header of a model in flash")
        repl.begin(start + _TICKS.format(period=period, loop=loop, call=call))
        repl.until(b"begun", timeout=60)
        until(board, 0.5)
        ready = board.snapshot()
        for offset in (0.0, 0.0137, 0.0511, 0.1093):  # of the timer and of the loads
            board.restore(ready)
            until(board, offset)
            del board.unread[:]
            board.type(b"\x03")
            began = port.clock()
            while board.unread.count(b"\x04") < 2 and port.clock() < began + _WITHIN:
                board.run(200)
            said = bytes(board.unread)
            assert said.count(b"\x04") == 2 and b"KeyboardInterrupt" in said, (offset, said[-300:])


def until(board: Board, seconds: float) -> None:
    """The board runs for so long, by its own clock."""
    end = board.state()["microseconds"] + 1e6 * seconds
    while board.state()["microseconds"] < end:
        board.run(200)
