# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem fit` counts what the loop takes and gives back each round; next to nothing left is no
plain FITS."""

from __future__ import annotations

from pathlib import Path

import kmodel_build
import pytest
from fit_kit import answer, entry, project, run, three_models
from maixmem_cli.plan.changes import cheapest
from maixmem_cli.plan.fit import MARGIN, Fit, fit
from maixmem_cli.plan.program.project import ProjectError, read
from maixmem_cli.plan.program.scratch import CALLS, WITHOUT_IMAGE
from maixmem_cli.plan.program.script_reader import read_script

_CAMERA = '[camera]\nsize = "{}"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return three_models(tmp_path)


def yolo(folder: Path) -> str:
    """A model whose last layer is a grid of 28x28 with 125 channels: 5 anchors, 20 classes."""
    layers = [("conv", 125), ("dequantize",)]
    (folder / "faces.kmodel").write_bytes(kmodel_build.v3((28, 28, 3), layers).to_bytes())
    return entry("faces", 0x300000)


def step(got: Fit, what: str):
    return next(s for s in got.steps if s.what == what)


def test_packing_a_picture_wants_700_kib_and_gives_them_back(folder: Path) -> None:
    text = 'firmware = "full"\n' + _CAMERA.format("QVGA") + '[[call]]\ndo = "compressed"\n'
    got, _ = answer(folder, text + entry("small", 0x300000))
    packs = step(got, "compressed")
    assert got.fits and packs.need == 0 and 700 << 10 <= packs.peak <= (700 << 10) + 8192
    got, infos = answer(folder, text + entry("large", 0x300000))
    assert not got.fits and [s.what for s in got.steps if not s.fits] == ["compressed"]
    changes, after = cheapest(got, infos)
    assert after is not None and after.fits and changes


def test_a_build_without_finders_packs_in_300_kib(folder: Path) -> None:
    text = 'firmware = "minimum"\n' + _CAMERA.format("QVGA") + '[[call]]\ndo = "compressed"\n'
    got, _ = answer(folder, text)
    assert 300 << 10 <= step(got, "compressed").peak <= (300 << 10) + 8192


def test_run_yolo2_takes_28_bytes_and_4_a_class_for_each_box(folder: Path) -> None:
    text = 'firmware = "full"\n[[call]]\ndo = "run_yolo2"\nmodel = "faces"\n'
    got, _ = answer(folder, text + yolo(folder))
    boxes = 28 * 28 * 5
    peak = step(got, "run_yolo2").peak
    left_by_boot = 32768  # holes that the smaller blocks go into
    assert -left_by_boot <= peak - boxes * (16 + 4 * 21 + 8) <= 8192


def test_a_model_that_is_no_yolo_is_said(folder: Path) -> None:
    text = 'firmware = "full"\n[[call]]\ndo = "run_yolo2"\nmodel = "small"\nanchors = 12\n'
    got, _ = answer(folder, text + entry("small", 0x300000))
    assert not got.fits and "run_yolo2" in got.refused[0] and "12 anchors" in got.refused[0]


def test_the_old_image_lives_while_the_new_one_is_made(folder: Path) -> None:
    """The size that one image takes is not enough for a loop that makes it again and again."""
    image = '[[image]]\nmake = "image"\nsize = [320, 240]\n'
    text = 'firmware = "full"\ngc_heap = "256K"\n'
    once, _ = answer(folder, text + image + "once = true\n")
    assert once.fits
    got, infos = answer(folder, text + image)
    assert not got.fits and step(got, "image 1, made anew").peak == 2 * 320 * 240 + 64
    changes, after = cheapest(got, infos)
    assert after is not None and after.project.gc_heap >= 2 * 153600 + (32 << 10)
    assert fit(after.project, infos).fits


def test_next_to_nothing_left_is_no_plain_fits(folder: Path) -> None:
    """A program that leaves less than the margin of a heap is said to be tight, by how much."""
    roomy = 'firmware = "full"\ngc_heap = "128K"\nprogram = "32K"\n'
    assert "tight" not in run(project(folder, roomy)).output
    got, _ = answer(folder, roomy)
    free = step(got, "program").free
    tight = f'firmware = "full"\ngc_heap = "128K"\nprogram = {free - 100}\n'
    got, _ = answer(folder, tight)
    assert got.fits and got.tight == {"gc": 100}
    done = run(project(folder, tight))
    assert done.exit_code == 0 and "FITS, but it is tight: 100 B of GC heap left" in done.output
    got, _ = answer(folder, tight.replace(str(free - 100), str(free - MARGIN["gc"])))
    assert got.tight == {}


@pytest.mark.parametrize(
    "row, said",
    [
        ('do = "find_elephants"\n', "known are"),
        ('do = "run_yolo2"\nmodel = "none"\n', "no model 'none'"),
        ('do = "run_yolo2"\n', "needs 'model'"),
        ('do = "mean"\n', "needs 'size'"),
    ],
)
def test_a_call_that_cannot_be_planned_names_the_key(folder: Path, row: str, said: str) -> None:
    with pytest.raises(ProjectError, match=said):
        read(project(folder, f'firmware = "full"\n[[call]]\n{row}'))


_SCRIPT = """
import sensor, lcd, image
import KPU as kpu
sensor.reset()
sensor.set_framesize(sensor.QVGA)
sensor.set_windowing((224, 224))
lcd.init()
faces = kpu.load("/sd/faces.kmodel")
paper = image.Image(size=(64, 64))
while True:
    img = sensor.snapshot()
    found = kpu.run_yolo2(faces, img)
    img.lens_corr(1.8)
    small = img.resize(32, 32)
    small.mean(1)
    small.mean(1)
    lcd.draw_string(0, 0, "x")
"""


def test_a_line_on_the_display_needs_no_camera(folder: Path) -> None:
    got, _ = answer(folder, 'firmware = "full"\n[[call]]\ndo = "lcd.draw_string"\n')
    assert got.fits and not got.refused


def test_a_script_shows_the_calls_of_its_loop(folder: Path) -> None:
    yolo(folder)
    script = folder / "main.py"
    script.write_text(_SCRIPT)
    done = run(script)
    wanted = read(project(folder, done.output))
    assert [(c.do, c.size, c.model) for c in wanted.calls] == [
        ("run_yolo2", (0, 0), "faces"),
        ("lens_corr", (224, 224), ""),
        ("mean", (32, 32), ""),
        ("lcd.draw_string", (0, 0), ""),
    ]
    assert [(i.size, i.once) for i in wanted.images] == [((64, 64), True), ((32, 32), False)]


@pytest.mark.parametrize("do", sorted(set(CALLS) - set(WITHOUT_IMAGE)))
def test_every_call_of_an_image_has_its_figure(folder: Path, do: str) -> None:
    gray = 'format = "gray"\n' if do == "find_edges" else ""
    text = f'firmware = "full"\n{_CAMERA.format("QQVGA")}[[call]]\ndo = "{do}"\n{gray}'
    got, _ = answer(folder, text)
    assert step(got, do).peak >= 0


def test_a_line_through_pixels_takes_memory_only_where_it_is_robust(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    by_place = ", 0, (0, 0, 9, 9), 2, 1, 9, 9, 1"
    for more, counted in (("", False), (", robust=True", True), (by_place, True)):
        script.write_text(
            "import sensor\nsensor.set_framesize(sensor.QVGA)\nimg = sensor.snapshot()\n"
            f"img.get_regression([(0, 9)]{more})\n"
        )
        assert ("get_regression" in str(read_script(script, {}))) is counted
