# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Sets of two or three real models with camera and display after `import maixmem_auto`, in turns:
what runs gives what each model gives alone, what cannot run ends in NoRoom, nothing hangs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import kpu_models
import maixmem_kmodel
import paths
import pytest
from emulated import each_image, needs_cc, only_thorough
from maixmem_cli.emulator import pictures
from maixmem_cli.emulator.board import Board, Snapshot
from maixmem_cli.emulator.ports import Hangs, SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.serial.repl import BoardError, RawRepl

pytestmark = [needs_cc, only_thorough]
SETS, TURNS, COMPARED = 20, 20, 9  # each model comes back in each turn, and runs in every ninth
_PLACES = (0x300000, 0x580000, 0x800000)

_BEGIN = """\
import gc, sensor, lcd, image
import KPU as kpu
def camera():
    sensor.reset()
    sensor.set_pixformat(sensor.RGB565)
    sensor.set_framesize(sensor.QVGA)
    sensor.run(1)
    lcd.init()
def seen(w, h, channels):
    gc.collect()
    img = image.Image(size=(w, h))
    if channels == 1:
        img = img.to_grayscale()
    for k in range(20):
        color = k * 12 if channels == 1 else (k * 12, 255 - k * 10, k * 50 & 255)
        img.draw_rectangle(k * 37 % w, k * 23 % h, 8 + k, 60 - k, color=color, fill=True)
    img.pix_to_ai()
    return img
def turn(n, i, w, h, channels, values, v4):
    if n:
        return nets[i].model_size()
    try:
        img = seen(w, h, channels)
    except MemoryError:  # 400 of 460 KiB of GC heap for one picture
        print("@", i, "none")
        return nets[i].model_size()
    if v4 and i not in sized:
        sized.append(i)
        kpu.set_outputs(nets[i], 0, 1, 1, values)
    out = kpu.forward(nets[i], img)
    print("@", i, [out[n * (values - 1) // 7] for n in range(8)])
nets, sized = {}, []
def load(i, at):
    nets[i] = kpu.load(at)
"""
_SHOWN = f"    n %= {COMPARED}\n    lcd.display(sensor.snapshot())\n"


def candidates() -> list[Path]:
    """Real models of pictures whose results are known."""
    folder = paths.models()
    if folder is None:
        pytest.skip("NO REAL MODELS: set MAIXMEM_MODELS")
    good = [n for n, told in kpu_models.GOLDEN.items() if all(len(t) == 16 for t in told)]
    return [folder / n for n in sorted(good) if "iris" not in n]


def _call(i: int, model: Path) -> str:
    info = maixmem_kmodel.read_info(model.read_bytes())
    _, channels, h, w = info.inputs[0][0]
    return (
        f"turn(n, {i}, {w}, {h}, {channels}, {info.outputs[0][2] // 4}, {info.format == 'v4'})\n"
    )


def alone(model: Path, *, camera: bool) -> str:
    """The model with the firmware's KPU."""
    return (
        _BEGIN
        + ("camera()\n" if camera else "")
        + f"load(0, {_PLACES[0]})\nn = 0\n"
        + _call(0, model)
    )


def together(models: list[Path], order: int) -> str:
    """A set in turns: loaded after, before, around camera and display."""
    loads = [f"load({i}, {_PLACES[i]})\n" for i in range(len(models))]
    loads.insert((0, len(loads), 1)[order], "camera()\n")
    calls = "".join("    " + _call(i, m) for i, m in enumerate(models))
    return (
        f"import maixmem_auto\n{_BEGIN}{''.join(loads)}for n in range({TURNS}):\n{_SHOWN}{calls}"
    )


def run(board: Board, start: Snapshot, models: list[Path], script: str) -> tuple[list[str], str]:
    """The lines of results, and the last line of what ended it: "" for the end of the script."""
    board.restore(start)
    for at, model in zip(_PLACES, models):
        board.write_flash(at, model.read_bytes())
    try:
        out, error = RawRepl("board", SerialPort(board)).run(script, timeout=200, limit=400)
    except BoardError as e:
        if not isinstance(e.__cause__, Hangs):
            raise
        out, error = "", "hangs"
    return [x for x in out.splitlines() if x.startswith("@ ")], (
        error.strip().splitlines() or [""]
    )[-1]


def wrong(board: Board, start: Snapshot) -> Iterator[str]:
    """What each set did that it should not."""
    values, fits = {}, {}
    for model in candidates():
        lines, error = run(board, start, [model], alone(model, camera=False))
        if not error:
            values[model] = lines[0].partition("[")[2]
            fits[model] = not run(board, start, [model], alone(model, camera=True))[1]
    ran = refused = compared = 0
    for i in range(SETS):
        models = random.Random(i).sample(sorted(values), 2 + i % 2)
        lines, error = run(board, start, models, together(models, i % 3))
        said = f"set {i}, order {i % 3}: {', '.join(m.stem for m in models)}: {error or 'ran'}"
        print(said, [fits[m] for m in models])
        want = [values[m] for _ in range(0, TURNS, COMPARED) for m in models]
        got = [line.partition("[")[2] for line in lines]
        if any(g != w for g, w in zip(got, want) if g):
            yield said + ": other results"
        compared += sum(map(bool, got))
        if not error and len(got) == len(want):
            ran += 1
        elif error.startswith("NoRoom") and not all(fits[m] for m in models):
            refused += 1
        else:
            yield said
    print(f"{ran} ran {TURNS} turns, {compared} results, {refused} ended in NoRoom")
    print("fit alone beside the camera:", *(m.stem for m in fits if fits[m]))


@each_image
def test_sets_of_models_take_turns(image: Path) -> None:
    with booted(image, (), files_of_library(), camera=pictures.film("pattern")) as board:
        assert list(wrong(board, board.snapshot())) == []
