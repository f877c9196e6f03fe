# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Bytes: .mpy of every device module, the GC heap that importing takes on a 64-bit MicroPython,
and five whole programs.

    python host_tests/bench/bench_size.py
    python host_tests/bench/bench_size.py --board PORT --model 0x300000 --model 0x500000

The programs run on each image that $MAIXMEM_FIRMWARE names, with two small models in flash: R
reports, S switches two models, I pools two images as well (their pixels do not count), F also
scans the flash, A has two models in use after import maixmem_auto. Printed: bytes of GC heap kept,
images of 320x240 that fit beside, how many of the library's files each opens and their .mpy bytes
(the files are those that the stand-in sees opened). With --board only the programs, on that board.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).resolve().parents[1] / "kits"),
    str(Path(__file__).resolve().parents[2] / "tools"),
]

import emulated  # noqa: E402
import paths  # noqa: E402

sys.path[:0] = [str(p) for p in paths.DEVICE_PATH]

import kmodel_build  # noqa: E402
from maixmem_cli.emulator.connect import open_board  # noqa: E402
from maixmem_cli.library.bytecode import compile_modules  # noqa: E402
from maixmem_cli.library.modules import K210  # noqa: E402
from maixmem_cli.serial.repl import RawRepl  # noqa: E402

MODULE_BUDGET = 10 << 10
TOTAL_BUDGET = 90 << 10
#: what is imported -> budget in KiB
IMPORTS = {"maixmem": 8, "maixmem_pool": 12}


def compile_to(folder: Path, bytecode: int) -> None:
    """Every device module as NAME.mpy."""
    compile_modules([p.stem for p in paths.LIB.glob("*.py")], bytecode, folder)


def imported(names: str, folder: Path) -> int:
    """Bytes of GC heap kept after importing the modules, measured in a process of its own."""
    code = "import gc\ngc.collect()\na = gc.mem_alloc()\n"
    code += "".join(f"import {n}\n" for n in names.split())
    code += "gc.collect()\nprint(gc.mem_alloc() - a)\n"
    path = ":".join(map(str, (folder, *paths.SHIM_PATH, ".frozen")))
    # the firmware's own modules cost no GC heap; what they use of the library is not counted out
    shim = "import sys, Maix, KPU, image\nfor n in list(sys.modules):\n"
    shim += " n[:7] == 'maixmem' and sys.modules.pop(n)\n"
    command = [str(paths.micropython()), "-X", "heapsize=2m", "-c", shim + code]
    done = subprocess.run(
        command, check=True, env={"MICROPYPATH": path}, capture_output=True, text=True
    )
    return int(done.stdout)


R = "import maixmem\nmaixmem.report(str)\n"
S = """from maixmem_models import ModelManager
import maixmem
m = ModelManager()
m.add("a", {0})
m.add("b", {1})
m.use("a")
m.use("b")
maixmem.report(str)
"""
I = S + "from maixmem_pool import ImagePool\np = ImagePool(40, 38)\n"
PIXELS = 2 * 40 * 38 * 2  # of its images: the program's, not ours
F = I + "from maixmem_flash import FlashMap\nFlashMap().scan().report(str)\n"
A = """import maixmem_auto
import KPU
a = KPU.load({0})
b = KPU.load({1})
a.model_addr(), b.model_addr()
"""
PROGRAMS = {"R": R, "S": S, "I": I, "F": F, "A": A}
#: program -> (KiB of GC heap, KiB of .mpy, files) that it may take
BUDGETS = {"S": (22, 19, 9), "F": (36, 30, 15)}
THREADS = 2  # KiB more where the firmware has threads
MORE = (8 << 10, 6 << 10)  # that A may take beside S
# The collector takes stale words of the C stack for references, and what was dropped may stay so:
# it is run at several depths, and a program both in one go with the two measurements and between
# them, twice. The least counts: such words only add.
_BEFORE = """import gc
def _collect(depth):
    if depth:
        _collect(depth - 1)
    gc.collect()
_before = _now = _f = m = a = b = p = 0
"""
_MEASURE = """
_collect({})
_before, _now = _now, gc.mem_alloc()
"""
_KEPT = "print(_now - _before)\n"
_BESIDE = """
def _images():
    import image
    held = []
    try:
        while len(held) < 9:
            held.append(image.Image(size=(320, 240)))
    except MemoryError:
        pass
    return len(held)
print(_images(), gc.threshold())
"""
_OPENED = """
import sys, time
import k210_board, kmodel_build
for n in [n for n in sys.modules if n.startswith("maixmem")]:
    del sys.modules[n]  # the stand-in's own
time.ticks_ms = lambda: 0  # as MicroPython has it
opened = set()
sys.addaudithook(lambda event, a: opened.add(a[0]) if event == "import" else None)
model = kmodel_build.v3((28, 28, 1), [("conv", 16)])
k210_board.reset("full", flash={{0x300000: model, 0x500000: model}})
{}
print(*sorted(n for n in opened if n.startswith("maixmem")))
"""


def files_of(program: str) -> list[str]:
    """The modules of the library that a program opens, those that are dropped again included."""
    code = _OPENED.format(program.format(0x300000, 0x500000))
    env = {"PYTHONPATH": ":".join(map(str, paths.DEVICE_PATH))}
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, env=env, capture_output=True, text=True
    )
    return done.stdout.splitlines()[-1].split()


def on_firmware(board: RawRepl, program: str) -> tuple[int, int, int]:
    """(bytes of GC heap that a program keeps, images that fit beside it, gc.threshold() after it)
    on a board that has the library, after a soft reset."""
    kept = []
    names = "if False:\n" + textwrap.indent(program, " ")  # the program's own, not the library's
    for depth in (8, 28):
        measure = _MEASURE.format(depth)
        board.soft_reset()
        board.check(_BEFORE)
        out = board.check(measure * 2 + program + measure + _KEPT, timeout=300)
        kept.append(int(out.split()[-1]))
        board.soft_reset()
        for code in (_BEFORE, names, measure, measure, program, measure):
            board.check(code, timeout=300)
        kept.append(int(board.check(_KEPT)))
    taken = min(kept) - (PIXELS if "ImagePool" in program else 0)
    images, threshold = map(int, board.check(_BESIDE).split())
    return taken, images, threshold


def on_port(port: str, models: list[str]) -> None:
    """The programs on the board behind a port."""
    if len(models) < 2:
        sys.exit("bench_size: two --model ADDR, where models are in the board's flash")
    with open_board(port) as board:
        on_board(board, models)


def on_images() -> None:
    """The programs on every image at hand, with two small models in flash."""
    if not emulated.images():
        print("*** NO FIRMWARE: S, F and R were not measured. Set MAIXMEM_FIRMWARE.")
    with tempfile.TemporaryDirectory() as temp:
        model = Path(temp) / "small.kmodel"
        model.write_bytes(kmodel_build.v3((28, 28, 1), [("conv", 16)]).to_bytes())
        files = ((0x300000, model), (0x500000, model))
        for image in emulated.images():
            print(f"\n{image.name}")
            with emulated.started(image, files) as (_, board):
                on_board(board, ["0x300000", "0x500000"])


def on_board(board: RawRepl, models: list[str]) -> None:
    """Copies the library as bytecode 4 and runs each program after a soft reset."""
    with tempfile.TemporaryDirectory() as temp:
        compile_to(Path(temp), 4)
        sizes = {}
        for name in K210:
            data = (Path(temp) / f"{name}.mpy").read_bytes()
            sizes[name] = len(data)
            board.write_file(f"/flash/{name}.mpy", data)
        taken = {}
        more = THREADS if "_thread" in board.check("help('modules')") else 0
        for name, program in PROGRAMS.items():
            opened = files_of(program)
            kept, images, threshold = on_firmware(board, program.format(*models))
            mpy = sum(sizes[n] for n in opened)
            taken[name] = kept, mpy
            over = name in BUDGETS and (
                kept > BUDGETS[name][0] + more << 10
                or mpy > BUDGETS[name][1] << 10
                or len(opened) > BUDGETS[name][2]
            )
            print(
                f"{name}: keeps {kept} bytes of GC heap, {images} images of 320x240 fit "
                f"beside it, opens {len(opened)} files, "
                f"{mpy} bytes of .mpy; gc.threshold() {threshold}{'   OVER' if over else ''}",
                flush=True,
            )
    beside = [a - b for a, b in zip(taken["A"], taken["S"])]
    over = any(n > most for n, most in zip(beside, MORE))
    print(
        f"A beside S: {beside[0]} bytes of GC heap, {beside[1]} of .mpy{'   OVER' if over else ''}"
    )


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--board", metavar="PORT")
    options.add_argument("--model", action="append", default=[], metavar="ADDR")
    asked = options.parse_args()
    if asked.board:
        return on_port(asked.board, asked.model)
    with tempfile.TemporaryDirectory() as temp:
        four, six = Path(temp) / "4", Path(temp) / "6"
        for folder, bytecode in ((four, 4), (six, 6)):
            folder.mkdir()
            compile_to(folder, bytecode)
        sizes = {p.stem: p.stat().st_size for p in sorted(four.glob("*.mpy"))}
        for name, size in sizes.items():
            print(
                f"{name:24} {size:6} bytes of .mpy v4 -O3   budget "
                f"{MODULE_BUDGET}{'   OVER' if size > MODULE_BUDGET else ''}"
            )
        total = sum(sizes[n] for n in K210)
        print(
            f"{'all that a K210 needs':24} {total:6} bytes of .mpy v4 -O3   budget "
            f"{TOTAL_BUDGET}{'   OVER' if total > TOTAL_BUDGET else ''}"
        )
        for names, budget in IMPORTS.items():
            taken = imported(names, six)
            print(
                f"import {names.replace('maixmem_', '_'):60} {taken:6} bytes of GC heap  "
                f" budget {budget << 10}{'   OVER' if taken > budget << 10 else ''}"
            )
    on_images()


if __name__ == "__main__":
    main()
