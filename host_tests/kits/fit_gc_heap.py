# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The GC heap that `maixmem fit SCRIPT.py` recommends, run on the firmware, as a table.

    python host_tests/kits/fit_gc_heap.py --firmware maixpy.bin [--count 20] [--seed 0]

Each program is made at random: a camera, a display or none, in one order or another, a model by
kpu.load() or by ModelManager, which leaves just too little of the system heap, or images, which
want more of the GC heap than there is. With what is recommended it runs; with 16 KiB more (where
the system heap was short) it does not; where the GC heap was, 32 KiB less are too few: a step and
its margin. Exit status 1 else.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import paths

sys.path[:0] = [str(p) for p in (paths.TOOLS, paths.LIB, paths.SHIMS)]
from maixmem_cli.emulator.session import Options  # noqa: E402
from maixmem_cli.firmware.builds import GC_DEFAULT, Firmware, choose  # noqa: E402
from maixmem_cli.kmodel import example  # noqa: E402
from maixmem_cli.plan import judge, of_record  # noqa: E402
from maixmem_cli.plan import smallest as of_fitting  # noqa: E402
from maixmem_cli.plan.changes import GC_HEAP  # noqa: E402
from maixmem_cli.record.record import GC, HEAP, Record  # noqa: E402
from maixmem_cli.runs import recorded  # noqa: E402

_STEP, _TRIES = 16 << 10, 4
_ADDRESS = 0x300000
_CAMERA = """sensor.reset({})
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.{})
"""
_LOADS = {
    "plain": f"net = kpu.load({_ADDRESS:#x})\n",
    "manager": (
        "from maixmem_models import ModelManager\nmodels = ModelManager()\n"
        f"models.add('m', {_ADDRESS:#x})\nnet = models.use('m')\n"
    ),
}


@dataclass(frozen=True)
class Program:
    """A script, the bytes of its model, which heap is too small for it."""

    name: str
    source: str
    model: int
    main: int
    short: str


def program(seed: int) -> Program:
    """One program; even numbers load their model themselves."""
    r = random.Random(seed)
    way = ("plain", "manager")[seed % 2]
    with_lcd, short = seed // 2 % 2 == 0, GC if r.random() < 0.25 else HEAP
    size = r.choice(("QQVGA", "QVGA", "QVGA", "CIF"))
    dual = size == "QQVGA" and r.random() < 0.5
    parts = [_CAMERA.format("dual_buff=True" if dual else "", size)]
    if with_lcd:
        parts.insert(r.randrange(2), "lcd.init()\n")
    if r.random() < 0.5:
        parts.append("sensor.run(1)\n")
    parts.append(_LOADS[way])
    if short == GC:
        count = r.randint(4, 6)
        parts.append("kept = [image.Image(size=(320, 240)) for i in range(%d)]\n" % count)
    parts.append("while True:\n    img = sensor.snapshot()\n")
    source = "import sensor, lcd, image\nimport KPU as kpu\n" + "".join(parts)
    name = f"{seed} {way} {size}{' dual' if dual else ''}{' lcd' if with_lcd else ''}"
    model = 300000 if short == GC else r.randrange(1_800_000, 2_050_000, 4)
    if size == "CIF" and short == HEAP:
        model -= 130_000
    if size == "QQVGA" and short == HEAP:
        model += 290_000 - 96_000 * dual
    return Program(f"{name}, {short} short", source, model, r.randrange(4000, 40000, 4), short)


def files(folder: Path, made: Program) -> tuple[Path, Options]:
    """The script, and the board with its model."""
    script, model = folder / "main.py", folder / "m.kmodel"
    script.write_text(made.source)
    data = bytearray(example.data(made.model))
    for at in (20, 32):  # main memory, and the end of the output in it
        data[at : at + 4] = made.main.to_bytes(4, "little")
    model.write_bytes(data)
    flash = ((_ADDRESS, model),)
    return script, Options(files=flash, camera="pattern", frames=5, seconds=30.0)


def recommended(record: Record, build: Firmware, again: Callable[[int], Record]) -> int | None:
    """The GC heap by the plan; what then fails is planned anew. None where none is found."""
    for _ in range(_TRIES):
        changes = of_record.cures(record, build, GC_HEAP)
        if not changes:
            return None
        size: int = changes[0].apply(of_record.project(record, build)).gc_heap
        record = again(size)
        if judge.judge(record).fits:
            return size
    return None


def smallest(script: Path, source: str, place: recorded.Place, first: Record) -> tuple[bool, str]:
    """Of what fits: the smallest GC heap that is named runs to the end."""
    size = of_fitting.gc_heap(first, script, source, place)
    if size is None:
        return True, "fits as it is, with no smaller GC heap"
    ran = judge.judge(recorded.again(script, place, size))
    return ran.fits, f"fits as it is; smallest {size >> 10}K {ran.kind}"


def row(made: Program, image: Path) -> tuple[bool, str]:
    """Whether what is recommended is right, in words."""
    build = choose(str(image)).of_table() or choose(str(image)).measured()
    with tempfile.TemporaryDirectory() as temp:
        script, options = files(Path(temp), made)
        place = recorded.Place(build, image, options)
        first = recorded.run(script, place)
        if judge.judge(first).fits:
            return smallest(script, made.source, place, first)

        def again(n: int) -> Record:
            return recorded.again(script, place, n)

        size = recommended(first, build, again)
        if size is None:
            return False, f"nothing recommended: {judge.judge(first).lines[0]}"
        beyond = size + (_STEP if made.short == HEAP else -2 * _STEP)
        ran, not_ran = (judge.judge(again(n)) for n in (size, beyond))
        plan = f"{size >> 10}K {ran.kind}, {beyond >> 10}K {not_ran.kind}"
        return ran.fits and (not not_ran.fits or beyond <= GC_DEFAULT), plan


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--firmware", type=Path, required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    wrong = 0
    for seed in range(given.seed, given.seed + given.count):
        made = program(seed)
        right, words = row(made, given.firmware)
        wrong += not right
        print(f"{'right' if right else 'WRONG'}  {made.name}: {words}", flush=True)
    print(f"{wrong} of {given.count} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
