# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""GC heap of every public object: what it keeps, and what its most frequent call allocates.

    python host_tests/bench/bench_objects.py        the table of the README

Measured on the MicroPython unix port, 64-bit as the K210: a block of the GC heap has 32 bytes on
both.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "kits")]

import paths  # noqa: E402


@dataclass(frozen=True)
class Row:
    """One object: how the i-th is made, and the call of x whose bytes count ("" for none)."""

    what: str
    make: str
    call: str = ""
    before: str = "pass"


_BOARD = """
import kmodel_build, k210_board, maixmem
small = kmodel_build.v3((28, 28, 1), [("conv", 16), ("conv", 10), ("dequantize",)]).to_bytes()
k210_board.reset("full", flash={0x300000: small})
"""
_MANAGER = (
    _BOARD
    + """
from maixmem_models import ModelManager
models = ModelManager()
models.add("a", 0x300000)
models.use("a")
"""
)
_FLASH = "from maixmem_flash import FlashMap, FlashRegion"
_POOL = "from maixmem_pool import BufferPool\nblock = bytearray(2048)"
# images that are there already, so that only the pool counts
_IMAGES = """
import maixmem
from maixmem_pool import ImagePool
class Image:
    def width(self):
        return 320
    def height(self):
        return 240
    def format(self):
        return 2
class Port:
    def new_image(self, w, h, format):
        return made.pop()
made = [Image() for _ in range(4)]
maixmem.set_port(Port())
"""
_ARENA = (
    "from maixmem_arena import Arena\nblock = bytearray(8192)\narena = Arena(8192, block=block)"
)

ROWS = (
    Row("`Region`", "maixmem.Region('gc', 1, 1, 0, 0)", before="import maixmem"),
    Row("`Cost`", "maixmem.Cost({'heap': 1 << 20}, {'heap': 1 << 20})", before="import maixmem"),
    Row("`Watch()`; `sample()`", "maixmem.Watch()", "x.sample()", _BOARD),
    Row("`Watch.mark()`", "w.mark('a label')", before=_BOARD + "w = maixmem.Watch()"),
    Row("`KModel`", "read_info(small)", before=_BOARD + "from maixmem_kmodel import read_info"),
    Row("`ModelManager()`; `use()` of a resident model",
        "ModelManager()", "models.use('a')", _MANAGER),
    Row("`ModelManager.add()`, with its net", "models.add(i, 0x400000)", before=_MANAGER),
    Row("`FlashMap()`", "FlashMap()", before=_FLASH),
    Row("`FlashRegion`", "FlashRegion('faces', 0x300000, 388776, 'model')", before=_FLASH),
    Row("`BufferPool` of 4, beside its block; `acquire()` and `release()`",
        "BufferPool(64, 4, block=block)", "x.release(x.acquire())", _POOL),
    Row("`BufferPool` of 32, beside its block; `with borrow()`",
        "BufferPool(64, 32, block=block)", "x.borrow().__exit__(None, None, None)", _POOL),
    Row("`ImagePool` of 2, beside its images; `acquire()` and `release()`",
        "ImagePool(320, 240, 'rgb565', 2)", "x.release(x.acquire())", _IMAGES),
    Row("`Arena`, beside its block", "Arena(8192, block=block)", before=_ARENA),
    Row("`Arena.alloc()`, a live piece; `view()`", "arena.alloc(100)", "arena.view(x)", _ARENA),
)  # fmt: skip

# Everything is done once before it counts: first uses fill tables. The collector is off while a
# call counts.
_SCRIPT = """
import gc
{before}
def make(i):
    return {make}
def call(x):
    {call}
def empty(x):
    pass
def allocated(f, x):
    f(x)
    gc.collect()
    gc.disable()
    start = gc.mem_alloc()
    f(x)
    n = gc.mem_alloc() - start
    gc.enable()
    return n
kept = [make(0), None]
gc.collect()
start = gc.mem_alloc()
kept[1] = make(1)
gc.collect()
print(gc.mem_alloc() - start, allocated(call, kept[1]) - allocated(empty, None))
"""


def measure(row: Row) -> tuple[int, int]:
    """(bytes kept, bytes that the call allocates)."""
    with tempfile.TemporaryDirectory() as temp:
        script = Path(temp) / "objects.py"
        script.write_text(
            _SCRIPT.format(before=row.before, make=row.make, call=row.call or "pass"),
            encoding="utf-8",
        )
        path = ":".join([*(str(p) for p in paths.DEVICE_PATH), ".frozen"])
        command = [str(paths.micropython()), "-X", "heapsize=2m", str(script)]
        done = subprocess.run(
            command, env={"MICROPYPATH": path}, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise SystemExit(f"{row.what}: {done.stderr or done.stdout}")
    # what the stand-in prints, as the firmware does when it collects a net, comes before
    kept, allocated = map(int, done.stdout.splitlines()[-1].split())
    return kept, allocated


def main() -> None:
    print("| object | GC heap it keeps | its call allocates |")
    print("|---|---|---|")
    for row in ROWS:
        kept, allocated = measure(row)
        print(f"| {row.what} | {kept} B | {f'{allocated} B' if row.call else '-'} |")


if __name__ == "__main__":
    main()
