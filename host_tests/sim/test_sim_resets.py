# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""machine.reset() in a script: it runs again, on what it left behind."""

from __future__ import annotations

import pytest

_AGAIN = "\n(the board restarts: the script runs again)\n"
_RESTARTS = """
import gc, machine
free = gc.mem_free()
try:
    n = int(open("/flash/n").read())
except OSError:
    n = 0
with open("/flash/n", "w") as f:
    f.write(str(n + 1))
print(n, "kept" in globals(), free > 450000)
kept = bytearray(100000)
if n < 2:
    machine.reset()
"""


@pytest.mark.parametrize("options", [(), ("--unsafe",)])
def test_after_a_hard_reset_the_script_runs_again(sim, options: tuple[str, ...]) -> None:
    status, out, _ = sim(_RESTARTS, *options)
    lines = [line for line in out.splitlines() if line and "restarts" not in line]
    assert (status, lines) == (0, [f"{n} False True" for n in range(3)])
    status, out, _ = sim("import machine\nprint('again')\nmachine.reset()", *options)
    assert (status, out.count("again\n")) == (1, 3)
    assert "Next: give --frames or --seconds" in out


_OTHER_HEAP = """
import gc, machine
from Maix import utils
if utils.gc_heap_size() != 1 << 20:
    with open("/flash/note", "w") as f:
        f.write("x" * {0})
    utils.gc_heap_size(1 << 20)
    machine.reset()
print(len(open("/flash/note").read()), gc.mem_free() > 1000000, utils.heap_free())
"""


def test_a_reset_to_another_gc_heap_goes_on_with_it(sim) -> None:
    """heap_free() is what the full build has there; what the script wrote is there too."""
    assert sim(_OTHER_HEAP.format(10))[:2] == (0, f"{_AGAIN}10 True 1912832\n")
    status, out, _ = sim(_OTHER_HEAP.format(20000))  # more than goes from one run to the next
    assert (status, "Next: --board-heap 1048576" in out) == (0, True)


_CONFIG = """
import lcd, machine
from Maix import config, utils
before = config.get_value("lcd", None)
if before is None:
    with open("/flash/config.json", "w") as f:
        f.write('{"lcd": {"width": 480, "height": 320}}')
    print(lcd.width(), utils.heap_free())
    machine.reset()
lcd.init(width=100)
print(before["width"], lcd.width(), lcd.height(), utils.heap_free())
"""


def test_the_display_of_the_config_counts_after_a_reset(sim) -> None:
    """The figures are the full build's."""
    assert sim(_CONFIG)[:2] == (0, f"320 2437120\n{_AGAIN}480 480 320 2301952\n")
