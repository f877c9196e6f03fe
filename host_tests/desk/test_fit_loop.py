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


def test_a_line_on_the_display_needs_no_camera(folder: Path) -> None:
    got, _ = answer(folder, 'firmware = "full"\n[[call]]\ndo = "lcd.draw_string"\n')
    assert got.fits and not got.refused


@pytest.mark.parametrize("do", sorted(set(CALLS) - set(WITHOUT_IMAGE)))
def test_every_call_of_an_image_has_its_figure(folder: Path, do: str) -> None:
    gray = 'format = "gray"\n' if do == "find_edges" else ""
    text = f'firmware = "full"\n{_CAMERA.format("QQVGA")}[[call]]\ndo = "{do}"\n{gray}'
    got, _ = answer(folder, text)
    assert step(got, do).peak >= 0


def test_a_call_of_so_many_bytes_needs_no_name_of_a_function(folder: Path) -> None:
    text = 'firmware = "full"\n[[call]]\nname = "mine"\nnbytes = "300K"\n'
    got, _ = answer(folder, text)
    assert got.fits and 300 << 10 <= step(got, "mine").peak <= (300 << 10) + 8192


def test_buffers_of_both_heaps_stay(folder: Path) -> None:
    text = 'firmware = "full"\n[[buffer]]\nname = "log"\nnbytes = "{}"\n'
    got, _ = answer(folder, text.format("64K"))
    assert got.fits and step(got, "log").need == 64 << 10
    assert not answer(folder, text.format("480K"))[0].fits
    got, _ = answer(folder, text.format("480K") + 'heap = "heap"\n')
    assert got.fits and step(got, "log").region == "heap"
    assert not answer(folder, text.format("3M") + 'heap = "heap"\n')[0].fits


def test_a_leak_is_no_fit_and_has_its_round(folder: Path) -> None:
    text = 'firmware = "full"\n[[leak]]\nname = "names"\nnbytes = 1000\nrounds = 50\n'
    got, _ = answer(folder, text)
    left = step(got, "program").free - step(got, "program").need
    assert not got.fits and got.dies == {"names": 50 + left // 1000}
    done = run(project(folder, text))
    assert done.exit_code == 1 and "names: the heap is full in round" in done.output
    with pytest.raises(ProjectError, match="above 0"):
        read(project(folder, text.replace("1000", "0")))


_ORDERED = """firmware = "full"
manager = false
order = {}
[camera]
size = "QVGA"
{}{}"""


def test_an_order_may_name_models(folder: Path) -> None:
    small, large = (
        entry("small", 0x300000, "resident = true"),
        entry("large", 0x600000, "resident = true"),
    )
    text = _ORDERED.format('["large", "camera", "models"]', small, large)
    got, _ = answer(folder, text)
    assert [s.what for s in got.steps if s.region == "heap"] == ["large", "camera", "small"]
    with pytest.raises(ProjectError, match="order has no 'models'"):
        read(project(folder, _ORDERED.format('["large", "camera"]', small, large)))
    with pytest.raises(ProjectError, match="once at most"):
        read(project(folder, _ORDERED.format('["huge", "camera"]', small, large)))


def test_a_plain_load_has_no_library(folder: Path) -> None:
    """kpu.load() itself: nothing of the library is in the GC heap."""
    text = _ORDERED.format('["camera", "models"]', entry("larger", 0x300000), "")
    plain, _ = answer(folder, text)
    managed, _ = answer(folder, text.replace("manager = false", "manager = true"))
    names = [s.what for s in plain.steps]
    assert "maixmem for models" not in names
    assert "maixmem for models" in [s.what for s in managed.steps]


def test_what_takes_turns_without_a_manager_is_freed_before_the_next(folder: Path) -> None:
    """Each alone, though both would fit beside each other: the program says so."""
    both = entry("small", 0x300000) + entry("large", 0x600000)
    text = _ORDERED.format('["camera", "models"]', both, "").replace("full", "minimum")
    got, _ = answer(folder, text)
    assert got.turns == ["small", "large"]
    assert not answer(folder, text.replace("manager = false", "manager = true"))[0].turns


def test_pictures_that_a_run_has_shown_are_not_judged_again(folder: Path) -> None:
    text = _ORDERED.format('["camera", "models"]', entry("small", 0x300000), "")
    got, _ = answer(folder, text)
    assert got.pictures
    got, _ = answer(folder, "pictures = false\n" + text)
    assert got.fits and not got.pictures
