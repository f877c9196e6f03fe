# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The system heap on the firmware: the lists read by the board against a walk through its RAM from
outside, damage, and random programs whose every load was foretold.

The oracle of a random program is the firmware: what check_fit() says of a load is noted, then the
bare kpu.load runs whatever it said. $MAIXMEM_SEQUENCES is how many programs a build gets,
$MAIXMEM_SEED the first seed; the seed of a failure is in its text.
"""

from __future__ import annotations

import ast
import contextlib
import os
import random
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import emulated
import pytest
from emulated import each_image, needs_cc
from maixmem_cli.emulator import heaps, pictures
from maixmem_cli.emulator.board import Board
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.serial.repl import BoardError, RawRepl

pytestmark = needs_cc

MODELS = {
    0x300000: "v3_face_ld5.kmodel",
    0x400000: "v3_mnist_maixpy.kmodel",
    0x500000: "v3_landmark68.kmodel",
    0x600000: "v3_trash.kmodel",
    0xA00000: "v3_voc20_detect.kmodel",
}
END = 0x80600000
SEQUENCES = int(os.environ.get("MAIXMEM_SEQUENCES", "20" if emulated.THOROUGH else "2"))
SEED = int(os.environ.get("MAIXMEM_SEED", "0"))
STEPS = 14


@contextlib.contextmanager
def board_with(image: Path) -> Iterator[tuple[Board, RawRepl]]:
    """A board with the library, a camera and the models that its flash has room for."""
    models = [(address, emulated.model(name)) for address, name in MODELS.items()]
    with booted(image, models, files_of_library(), camera=pictures.film("pattern")) as board:
        yield board, RawRepl(image.name, SerialPort(board))


def told(out: str) -> list[Any]:
    return [ast.literal_eval(line[2:]) for line in out.splitlines() if line.startswith("@ ")]


# --- what is read is what is there ---

_LOOK = "r = p.regions()[1]\nprint('@', (r.free, r.largest, r.holes, p.heap.top, r.exact))"
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
            sizes = [c.size for c in heap.holes]
            free = sum(sizes) + END - heap.top
            end = max(heap.top_size, heap.heap_free) - 32
            largest = max([end, *sizes]) - 8
            assert found == (free, largest, len(sizes), heap.top, True), scene


# --- damage ---

# Parts that say it are in memory before: reading them from flash takes malloc, which is damaged.
_DAMAGE = """
import gc, maixmem, maixmem_k210_gc, maixmem_k210_room, maixmem_text, KPU as kpu
p = maixmem.port()
a = kpu.load(0x300000)
b = kpu.load(0x400000)
kpu.deinit(a)
w = p.heap.words
holes = []
p.heap.look(holes)
size, at = max(holes)
top = p.heap.top
for where, value in ((at + 8, 0), (at + 8, 0x7ffffff0), (at + 8, size + 17), (at + 16, 0x41414141),
                     (at + 24, 0x41414141), (at + size, size + 32), (top + 8, 0),
                     (top + 8, 0x41414141)):
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
        *cases, whole = told(repl.check(_DAMAGE, timeout=100))
    assert len(cases) == 8 and whole
    assert all(not exact and n == 1 and at for _, exact, n, at in cases), cases


# --- random programs ---

_PROGRAM = """
import gc, sensor, lcd, KPU as kpu, maixmem
from maixmem_models import ModelManager
m = ModelManager()
p = m.port
for a, n in %r:
    m.add(a, a, nbytes=n)
nets = {}
def foretell(a):
    e = p.check_fit(m.models[a].cost)
    print("@", repr("ok" if e is None else "hang" if e.hangs else "2006"))
def load(a, k):
    free = p.free_bytes()
    try:
        nets[k] = kpu.load(a)
        beyond = free - p.free_bytes() - m.models[a].cost.need["heap"]
        # by its length alone the working memory of a model is not known
        print("@", ("ok", beyond if m.models[a].cost.certainty == "exact" else 0))
    except ValueError as x:
        print("@", (str(x), 0))
def drop(k):
    kpu.deinit(nets.pop(k))
    gc.collect()
def camera(size):
    sensor.reset()
    sensor.set_pixformat(sensor.RGB565)
    try:
        sensor.set_framesize(getattr(sensor, size))
    except OSError:
        sensor.reset()
"""


def steps(r: random.Random) -> Generator[tuple[str, int | None], bool | None, None]:
    """Lines of a program, with the number of the net where it is a load."""
    live: list[int] = []
    for n in range(STEPS):
        what = r.random()
        if live and (what < 0.3 or len(live) == 5):
            yield f"drop({live.pop(r.randrange(len(live)))})", None
        elif what < 0.72:
            came = yield f"load({r.choice(list(MODELS))}, {n})", n
            if came:
                live.append(n)
        elif what < 0.82:
            yield f"camera({r.choice(['QQVGA', 'QVGA', 'VGA'])!r})", None
        elif what < 0.9:
            yield "lcd.init()", None
        else:
            yield "print('%f' % 1.5)", None


def play(repl: RawRepl, r: random.Random) -> list[tuple[str, str, str, int]]:
    """[(line, what was said, what happened, bytes that it took beyond the forecast)] of loads."""
    done: list[tuple[str, str, str, int]] = []
    program = steps(r)
    came: bool | None = None
    with contextlib.suppress(StopIteration):
        while True:
            line, load = program.send(came)
            came = None
            said = ""
            if load is not None:
                said = told(repl.check(line.replace("load(", "foretell(").split(",")[0] + ")"))[0]
            try:
                found = told(repl.check(line, timeout=60))
            except BoardError:  # it hangs
                found = [("hang", 0)]
            if load is not None:
                done.append((line, said, *found[-1]))
                came = found[-1][0] == "ok"
            if found and found[-1][0] == "hang":
                return done
    return done


@each_image
@pytest.mark.parametrize("seed", range(SEED, SEED + SEQUENCES))
def test_loads_of_random_programs_end_as_foretold(image: Path, seed: int) -> None:
    sizes = [(a, emulated.model(name).stat().st_size) for a, name in MODELS.items()]
    with board_with(image) as (_, repl):
        repl.check(_PROGRAM % sizes, timeout=100)
        done = play(repl, random.Random(seed))
    for line, said, did, beyond in done:
        if "2009" in did:  # all five slots are taken
            continue
        kind = "2006" if "2006" in did else did
        assert said == kind and beyond == 0, (seed, line, said, did, beyond, done)
