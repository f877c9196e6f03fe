# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The Pico in software: the library on unmodified MicroPython and CircuitPython images that
$MAIXMEM_FIRMWARE names, by the commands that a user has. `dev.py test --emulator` takes all and
runs the device tests there; else the first."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import mem_info
import paths
import pico
import pytest
from commands import maixmem
from emulated import THOROUGH, answer
from maixmem_cli.emulator.connect import connect
from maixmem_cli.serial.identity import identity

IMAGES = pico.images() if THOROUGH else pico.images()[:1]
WHY = pico.missing() or ("" if IMAGES else "NO PICO: MAIXMEM_FIRMWARE names no .uf2 image")
pytestmark = pytest.mark.skipif(bool(WHY), reason=WHY)

NUMBERS = """
import gc, maixmem
r = maixmem.regions()[0]
print((r.total, r.used, r.free, r.largest, r.exact, gc.mem_alloc() + gc.mem_free()))
"""
HAS_INFO = "import micropython\nprint(hasattr(micropython, 'mem_info'))"
POOL = """
from maixmem_pool import BufferPool
pool = BufferPool(320, 4)
with pool.borrow() as buf:
    print((len(buf), pool.in_use))
"""


@pytest.fixture(scope="module", params=IMAGES or [None], ids=lambda p: p.stem if p else "none")
def board(request, tmp_path_factory):
    """A Pico with the library on it, deployed as a user would."""
    with pico.Pico(request.param, tmp_path_factory.mktemp("pico") / "flash.bin") as running:
        told = json.loads(maixmem("deploy", "--port", running.port, "--json"))
        assert told["findings"] == [], told
        assert told["kind"] in ("micropython", "circuitpython") and len(told["copied"]) > 10
        yield running


def test_numbers_are_those_of_mem_info(board):
    with connect(board.port) as repl:
        if not answer(repl, HAS_INFO):
            pytest.skip(f"{board.image.stem} has no micropython.mem_info()")
        mem_info.check(repl.check(mem_info.SCRIPT.read_text(encoding="utf-8")))


def test_what_is_told_adds_up(board):
    with connect(board.port) as repl:
        total, used, free, largest, exact, counted = answer(repl, NUMBERS)
        circuitpython = identity(repl).kind == "circuitpython"
    assert used + free == total and (largest is None or 0 < largest <= free)
    assert exact is not circuitpython and (total == counted if exact else total <= counted)


def test_a_report_is_printed(board):
    with connect(board.port) as repl:
        said = repl.check("import maixmem\nmaixmem.report()")
    assert said.startswith("maixmem ") and "\ngc      [" in said


def test_buffers_come_from_a_pool(board):
    with connect(board.port) as repl:
        assert answer(repl, POOL) == (320, 1)


def test_the_example_runs(board):
    example = paths.EXAMPLES / "pico_display.py"
    with connect(board.port) as repl:
        said = repl.check(example.read_text(encoding="utf-8"), timeout=120)
    assert [f"frame {n}: 10 stripes" in said for n in range(3)] == [True] * 3, said


def test_doctor_visits(board):
    told = json.loads(maixmem("doctor", "--port", board.port, "--json"))
    assert told["report"]["port"] == "generic" and told["report"]["regions"][0]["name"] == "gc"


def test_top_watches(board):
    for _ in range(3):  # on a loaded desk a Pico in software may be "away" for a sample
        told = json.loads(maixmem("top", "--port", board.port, "--once", "--json"))
        if not told["event"]:
            break
    (gc,) = told["regions"]
    assert gc["name"] == "gc" and 0 < gc["free"] < gc["total"]


@pytest.mark.skipif(not THOROUGH, reason="NOT RUN ON A PICO: dev.py test --emulator does")
def test_the_device_tests(board):
    command = [sys.executable, str(Path(paths.HOST_TESTS) / "on_target"), "--board", board.port]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
