# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Figures of unmodified images on a Pico in software: what the import costs, what is left.

python host_tests/bench/bench_pico.py [--modules A,B] [NAME...]

Takes the images that $MAIXMEM_FIRMWARE names, or those whose name contains a NAME. Each is
started, gets the library by `maixmem deploy`, imports, reports and pools; a line is printed for
each: bytes of the GC heap that `import maixmem` takes, the port beside it, every module (or those
that --modules names, with what they need) at once; bytes left after the first two; the largest
block, and whether micropython.mem_info() says the same. Exit status 1 when an image did not do all
of it, 2 where there is no Pico.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "kits"), str(HERE.parent.parent / "tools")]

import mem_info  # noqa: E402
import paths  # noqa: E402

sys.path.append(str(paths.LIB))

import pico  # noqa: E402
from commands import maixmem  # noqa: E402
from maixmem_cli.emulator.connect import connect  # noqa: E402
from maixmem_cli.serial.repl import BoardError, RawRepl  # noqa: E402

COST = """
import gc
gc.collect()
a = gc.mem_free()
import maixmem
gc.collect()
b = gc.mem_free()
port = maixmem.port()
gc.collect()
print((a - b, b - gc.mem_free(), gc.mem_free()))
"""
REPORT = """
import maixmem
told = maixmem.report()
print(told['regions'])
"""
POOL = """
from maixmem_pool import BufferPool
pool = BufferPool(320, 4)
with pool.borrow() as buf:
    buf[0] = 1
print((len(buf), pool.in_use, pool.check()))
"""
HAS_INFO = "import micropython\nprint(hasattr(micropython, 'mem_info'))"
ROW = "{:<34} {:<8} {:>7} {:>7} {:>7} {:>7} {:>8} {:>8} {:>9}"
HEADS = ("image", "form", "deploy", "import", "port", "all", "left", "largest", "mem_info")


def answer(repl: RawRepl, code: str) -> Any:
    """The plain value whose repr() is the last line that the code prints."""
    return ast.literal_eval(repl.check(code).strip().splitlines()[-1])


def same_numbers(repl: RawRepl) -> str:
    """Whether mem_info() says what regions() does."""
    if not answer(repl, HAS_INFO):
        return "none"
    try:
        mem_info.check(repl.check(mem_info.SCRIPT.read_text(encoding="utf-8")))
    except AssertionError as e:
        return f"OTHER: {e}"
    return "equal"


def cells(board: pico.Pico, modules: list[str]) -> list[str]:
    """The line of a board that was just started, without its name."""
    start = time.monotonic()
    told = json.loads(maixmem("deploy", "--port", board.port, "--json", *modules))
    took = time.monotonic() - start
    with connect(board.port) as repl:
        if told["kind"] == "circuitpython":
            repl.reload()
        else:
            repl.soft_reset()
        first, port, left = answer(repl, COST)
        gc = answer(repl, REPORT)[0]
        assert gc["name"] == "gc" and gc["used"] + gc["free"] == gc["total"], gc
        assert answer(repl, POOL) == (320, 0, 0)
        same = same_numbers(repl)
    form = "sources" if told["copied"][0].endswith(".py") else ".mpy"
    everything = told["free_before"] - told["free_after"]
    numbers = (first, port, everything, left, gc["largest"], same)
    return [form, f"{took:.0f} s", *map(str, numbers)]


def main() -> int:
    names, modules = sys.argv[1:], []
    if names[:1] == ["--modules"]:
        modules, names = names[:2], names[2:]
    wanted = [p for p in pico.images() if not names or any(n in p.stem for n in names)]
    if pico.missing() or not wanted:
        print(pico.missing() or "NO PICO: MAIXMEM_FIRMWARE names no such .uf2 image")
        return 2
    print(ROW.format(*HEADS))
    bad = 0
    for image in wanted:
        try:
            with tempfile.TemporaryDirectory() as temp:
                with pico.Pico(image, Path(temp) / "flash.bin") as board:
                    found = cells(board, modules)
        except (AssertionError, BoardError) as e:
            bad += 1
            print(f"{image.stem[-34:]:<34} FAILED: {e}", flush=True)
        else:
            print(ROW.format(image.stem[-34:], *found), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
