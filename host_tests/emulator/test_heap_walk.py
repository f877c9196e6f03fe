# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The system heap on the firmware: the lists read by the board against a walk through its RAM from
outside, and damage."""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import emulated
import pytest
from commands import invoke
from emulated import each_image, needs_cc
from maixmem_cli.commands import doctor
from maixmem_cli.emulator import pictures
from maixmem_cli.emulator.board import Board
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.heap import heaps
from maixmem_cli.serial.identity import DamagedHeap, identity
from maixmem_cli.serial.repl import RawRepl

pytestmark = needs_cc

MODELS = {
    0x300000: "v3_face_ld5.kmodel",
    0x400000: "v3_mnist_maixpy.kmodel",
    0x500000: "v3_landmark68.kmodel",
    0x600000: "v3_trash.kmodel",
    0xA00000: "v3_voc20_detect.kmodel",
}
END = 0x80600000


@contextlib.contextmanager
def board_with(image: Path) -> Iterator[tuple[Board, RawRepl]]:
    """A board with the library, a camera and the models that its flash has room for."""
    models = [(address, emulated.model(name)) for address, name in MODELS.items()]
    with booted(image, models, files_of_library(), camera=pictures.film("pattern")) as board:
        yield board, RawRepl(image.name, SerialPort(board))


def told(out: str) -> list[Any]:
    return [ast.literal_eval(line[2:]) for line in out.splitlines() if line.startswith("@ ")]


# --- what is read is what is there ---

_LOOK = """r = maixmem.report(str)["regions"][1]
print("@", (r["free"], r["largest"], r["holes"], p.heap.top, r["exact"]))"""
_SCENES = (
    "import gc, maixmem, KPU as kpu\np = maixmem.port()",
    "a = kpu.load(0x300000)",
    "b = kpu.load(0x400000)",
    "kpu.deinit(a)",
    "import sensor\nsensor.reset()\nsensor.set_pixformat(sensor.RGB565)",
    "sensor.set_framesize(sensor.QQVGA)",
    "sensor.set_framesize(sensor.QVGA)",
    "import lcd\nlcd.init()",
    "import image\ni = image.Image(size=(80, 60))\ni.pix_to_ai()",
    "del i\ngc.collect()",
    "c = kpu.load(0x500000)",
    "kpu.deinit(b)",
)


@each_image
def test_the_lists_are_those_of_a_walk_from_outside(image: Path) -> None:
    finder = heaps.Finder()
    with board_with(image) as (board, repl):
        for scene in _SCENES:
            repl.check(scene, timeout=60)
            found = told(repl.check(_LOOK))[-1]
            heap = finder.system(board.ram)
            free = sum(c.size for c in heap.holes) + END - heap.top
            assert found == (free, heap.largest, len(heap.holes), heap.top, True), scene


# --- damage ---

_DAMAGES = """
import gc, maixmem, KPU as kpu
p = maixmem.port()
a = kpu.load(0x300000)
b = kpu.load(0x400000)
kpu.deinit(a)
w = p.heap.words
holes = []
p.heap.look(holes)
size, at = max(holes)
top = p.heap.top
damages = ((at + 8, 0), (at + 8, 0x7ffffff0), (at + 8, size + 17), (at + 16, 0x41414141),
           (at + 24, 0x41414141), (at + size, size + 32), (top + 8, 0), (top + 8, 0x41414141))
"""
# Parts that say it are in memory before: reading them from flash takes malloc, which is damaged.
_DAMAGE = """
import maixmem_k210_gc, maixmem_k210_fit, maixmem_text
for where, value in damages:
    i = (where - 0x80000000) >> 2
    before = w[i]
    w[i] = value
    free = p.free_bytes()
    said = [x for x in p.warnings() if "damaged at 0x" in x]
    w[i] = before
    print("@", (where, p.exact, len(said), said and said[0].find(" at 0x") > 0))
p.free_bytes()
print("@", p.exact)
"""


@each_image
def test_damage_is_said(image: Path) -> None:
    with board_with(image) as (_, repl):
        *cases, whole = told(repl.check(_DAMAGES + _DAMAGE, timeout=100))
    assert len(cases) == 8 and whole
    assert all(not exact and n == 1 and at for _, exact, n, at in cases), cases


@each_image
def test_a_report_of_damage_takes_no_malloc(image: Path) -> None:
    """Its parts are not in memory, and reading them from flash may hang."""
    with board_with(image) as (board, repl):
        repl.check(_DAMAGES, timeout=100)
        before = board.snapshot()
        for n in range(8):
            board.restore(before)
            repl = RawRepl(image.name, SerialPort(board))
            code = f"at, x = damages[{n}]\nw[(at - 0x80000000) >> 2] = x\nmaixmem.report()"
            out, error = repl.run(code, timeout=60)
            assert "RuntimeError" in error, (n, error)
            for text in (out, error):
                assert "system heap damaged at 0x8" in text, (n, text)


_FORGET = """
import sys
for x in [x for x in sys.modules if x[:7] == "maixmem"]: del sys.modules[x]
print("@", (at, size, top))
"""
_SPOIL = "at, x = damages[{}]\nw[(at - 0x80000000) >> 2] = x"


@each_image
def test_doctor_says_damage_first(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is not in memory: its rules come with the question."""
    with board_with(image) as (board, repl):
        repl.check(_DAMAGES, timeout=100)
        ((at, size, top),) = told(repl.check(_FORGET))
        places = (at, at, at + size + 16, at, at, at + size, top, top)
        used = heaps.Finder().system(board.ram).used
        before = board.snapshot()
        for n, place in enumerate(places):
            board.restore(before)
            repl = RawRepl(image.name, SerialPort(board))
            repl.check(_SPOIL.format(n))
            monkeypatch.setattr(doctor, "board_at", lambda port, repl=repl: repl)
            done = invoke("doctor", "--json")
            assert done.exit_code == 1, done.stderr
            (finding,) = json.loads(done.stdout)["findings"]
            assert f"the system heap is damaged at {place:#x}, perhaps by " in finding["cause"], n
            assert finding["step"]["text"] == "machine.reset()"
            owner = [c for c in used if c.address - 16 + c.size <= place][-1]
            said = f"the block of {owner.size - 8} bytes at {owner.address:#x};"
            assert said in finding["cause"], n
            repl.enter()
            with pytest.raises(DamagedHeap, match=finding["cause"][:40]):
                identity(repl)
