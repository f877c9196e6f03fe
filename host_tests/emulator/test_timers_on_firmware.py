# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Timer callbacks that call the manager, or a KPU of maixmem_auto, on firmware: in the middle of a
load they are refused, and the load goes on and is right."""

from __future__ import annotations

import ast
from pathlib import Path

import emulated
import pytest
from emulated import each_image, needs_cc
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
        if "is being loaded or freed, by a setup or a timer" not in str(e):
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
