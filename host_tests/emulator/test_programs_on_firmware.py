# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What users run first, on every firmware image that is given: nothing ends in an AttributeError,
nothing hangs.

Programs mark their lines with "@ ": early firmware prints lines of its own when it is asked for
its heap.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import emulated
import paths
import pytest
from emulated import each_image, needs_cc
from maixmem_cli.emulator import pictures
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.serial.repl import BoardError, RawRepl

pytestmark = needs_cc

MODELS = {
    0x300000: "v3_face_ld5.kmodel",
    0x600000: "v3_mnist_maixpy.kmodel",
    0xA00000: "v3_voc20_detect.kmodel",
}
FRAMES = 1000 if emulated.THOROUGH else 60
SECONDS = 300.0


@contextlib.contextmanager
def board_with(image: Path, **more: Any) -> Iterator[RawRepl]:
    """A board with the library and three models, as a user's; its raw REPL."""
    models = [(address, emulated.model(name)) for address, name in MODELS.items()]
    with booted(image, models, files_of_library(), **more) as board:
        yield RawRepl(image.name, SerialPort(board))


def told(repl: RawRepl, source: str) -> list[Any]:
    """The values of the lines that the program marked."""
    out = repl.check(source, timeout=SECONDS)
    return [ast.literal_eval(line[2:]) for line in out.splitlines() if line.startswith("@ ")]


def nbytes(address: int) -> int:
    return emulated.model(MODELS[address]).stat().st_size


_REPORT = """
import maixmem
found = maixmem.report()
w = maixmem.Watch()
w.sample()
w.mark("here")
w.report()
print("@", [[r["name"] for r in found["regions"]], w.names])
"""


@each_image
def test_the_quick_start(image: Path) -> None:
    script = (paths.EXAMPLES / "switch_models.py").read_text(encoding="utf-8")
    with board_with(image) as repl:
        ((regions, watched),) = told(repl, _REPORT)
        assert regions == ["gc", "heap"] and watched == ("gc", "heap", "largest")
        out = repl.check(script, timeout=SECONDS)
    assert "B freed" in out.split("what it took")[1], out


@each_image
def test_the_camera_example(image: Path) -> None:
    script = (paths.EXAMPLES / "camera_pool.py").read_text(encoding="utf-8")
    with board_with(image, camera=pictures.film("pattern")) as repl:
        out = repl.check(script.replace("FRAMES = 1000", f"FRAMES = {FRAMES}"), timeout=SECONDS)
    assert f"pooled: {FRAMES} frames, at most" in out, out
    assert f"frames: pooled {FRAMES}, plain " in out, out


_SWITCH = """
import gc, maixmem
from maixmem_models import ModelManager
m = ModelManager()
for address, n in %r:
    m.add(address, address, nbytes=n)
def turns(n):
    for _ in range(n):
        for name in m.models:
            assert m.use(name).model_addr() == name
    m.release_all()
    gc.collect()
    print("@", [gc.mem_alloc(), m.port.room("heap")])
turns(1)
turns(5)
"""


@each_image
def test_two_models_take_turns(image: Path) -> None:
    two = [(address, nbytes(address)) for address in list(MODELS)[:2]]
    with board_with(image) as repl:
        (gc_before, heap_before), (gc_after, heap_after) = told(repl, _SWITCH % two)
    assert heap_after == heap_before and gc_after <= gc_before + 256


_FLAT = """
import gc, maixmem
from maixmem_pool import ImagePool
pool = ImagePool(80, 60, "rgb565", 1)
src = maixmem.port().new_image(80, 60)
def frames(n):
    for _ in range(n):
        pool.release(pool.take(src))
    gc.collect()
    print("@", gc.mem_alloc())
for n in (10, 1000, 1000, 1000):
    frames(n)
"""


@each_image
def test_a_thousand_frames_leave_memory_flat(image: Path) -> None:
    """After two thousand others: the first long run keeps 64 bytes on minimum and openmv_v4, once,
    and five runs with 10,010 frames in all keep no more."""
    with board_with(image) as repl:
        *_, before, after = told(repl, _FLAT)
    assert after <= before


_BIG = """
import maixmem
from maixmem_models import ModelManager
m = ModelManager()
m.add("big", %d, nbytes=%d)
peak, free = m.models["big"].cost.peak["heap"], m.port.free_bytes()
"""
# A GC heap that leaves 128 KiB less than the load takes for a moment: the model itself has its
# place.
_TIGHT = _BIG + "maixmem.set_gc_heap((free - peak + 131072 + 524288) & ~4095)\n"
_USE = (
    _BIG
    + """
try:
    m.use("big")
except maixmem.NoRoom as e:
    print("@", [e.need > e.free, free, "Next:" in str(e)])
"""
)


@each_image
def test_use_refuses_where_a_bare_load_hangs(image: Path) -> None:
    address = 0xA00000
    big = (address, nbytes(address))
    with board_with(image) as repl:
        repl.check(_TIGHT % big)
        repl.hard_reset()
        ((short, free, step),) = told(repl, _USE % big)
        assert short and step and free > nbytes(address)
        with pytest.raises(BoardError):
            repl.check(f"import KPU\nKPU.load({address})")
