# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem fit`: verdicts, and the cheapest changes."""

from __future__ import annotations

import re
from pathlib import Path

import fit_projects
import k210_board
import maixmem_k210
import maixmem_k210_gc
import pytest
from fit_kit import answer, entry, three_models
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.plan import of_plan
from maixmem_cli.plan.changes import cheapest
from maixmem_cli.plan.fit import fit
from maixmem_cli.plan.program.project import Project
from maixmem_cli.text.language import LANGUAGES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return three_models(tmp_path)


def test_one_model_fits_and_stays(folder: Path) -> None:
    got, _ = answer(folder, 'firmware = "full"\n' + entry("small", 0x300000))
    assert got.fits and got.turns == []
    step = got.steps[-1]
    assert step.free == FIRMWARES["full"].heap
    assert 0 <= step.total - step.free <= 32768  # what boot left unseen
    assert step.need >= (folder / "small.kmodel").stat().st_size + 256
    assert step.peak >= step.need + 262274 - got.steps[-1].need // 2


def test_a_manager_takes_more_where_there_are_threads(folder: Path) -> None:
    """Measured on firmware: 2,016 bytes on full, 1,888 on lvgl, beside minimum, which has none."""
    needs = {}
    for build in ("minimum", "full", "lvgl"):
        got, _ = answer(folder, f'firmware = "{build}"\n' + entry("small", 0x300000))
        needs[build] = next(s.need for s in got.steps if s.what == "maixmem for models")
    assert [build for build in needs if FIRMWARES[build].threads] == ["full", "lvgl"]
    assert 1888 <= needs["full"] - needs["minimum"] == needs["lvgl"] - needs["minimum"] <= 2016


def test_two_that_do_not_fit_together_take_turns(folder: Path) -> None:
    got, _ = answer(
        folder, 'firmware = "full"\n' + entry("small", 0x300000) + entry("larger", 0x600000)
    )
    assert got.fits and got.turns == ["small", "larger"]
    rows = [s for s in got.steps if s.turn]
    given_back = rows[1].free - rows[0].free
    assert 0 <= given_back <= 32768, (
        "each starts with what the other gave back, and what boot left unseen"
    )


def test_the_same_two_stay_on_the_minimum_build(folder: Path) -> None:
    got, _ = answer(
        folder, 'firmware = "minimum"\n' + entry("small", 0x300000) + entry("larger", 0x600000)
    )
    assert got.fits and got.turns == []


def test_a_camera_that_is_made_after_the_models_counts_the_largest_of_them(folder: Path) -> None:
    text = (
        'firmware = "full"\norder = ["models", "camera", "lcd", "pools"]\n[camera]\nsize = '
        '"QVGA"\n'
    )
    got, _ = answer(folder, text + entry("small", 0x300000) + entry("larger", 0x600000))
    camera = next(s for s in got.steps if s.what == "camera")
    most = max(s.need for s in got.steps if s.turn)
    assert abs(camera.free - (camera.total - most)) < 131072  # a free end of less does not go back
    assert camera.need == 384000


def test_free_is_what_the_board_says_before_it_gives_the_top_back(tmp_path: Path) -> None:
    """Measured on full: after the camera heap_free() says 2,048,000, malloc's top has 31,264 more.
    ModelManager gives 28,672 of them back for a model that would not come through else."""
    _, _, _, _, largest = fit_projects.models(tmp_path)
    (tmp_path / "largest.kmodel").write_bytes(largest.read_bytes())
    text = 'firmware = "full"\n[camera]\nsize = "QVGA"\n' + entry("largest", 0x300000)
    got, _ = answer(tmp_path, text)
    model = got.steps[-1]
    assert got.fits and model.free == 2048000
    assert model.free - model.peak == 2048000 + 28672 - 2056192, "the break rises less by those"


def test_an_order_names_only_what_is_there(folder: Path) -> None:
    text = 'firmware = "full"\norder = ["models", "camera"]\n[camera]\nsize = "QVGA"\n'
    got, _ = answer(folder, text + entry("small", 0x300000))
    what = [s.what for s in got.steps]
    assert what.index("small") < what.index("camera")


def test_two_frame_buffers_take_twice(folder: Path) -> None:
    got, _ = answer(folder, 'firmware = "minimum"\n[camera]\nsize = "QVGA"\ndual_buff = true\n')
    assert next(s.need for s in got.steps if s.what == "camera") == 2 * 384000


def test_a_model_under_the_firmware_is_found_and_moved(folder: Path) -> None:
    got, infos = answer(folder, 'firmware = "full"\n' + entry("small", 0x200000))
    assert not got.fits and len(got.flash) == 1 and "0x200000" in got.flash[0]
    changes, after = cheapest(got, infos)
    assert after is not None and after.fits and [c.kind for c in changes] == ["flash"]
    assert after.project.models[0].address % 4096 == 0
    assert after.project.models[0].address >= FIRMWARES["full"].image + 37


def test_short_of_system_heap_a_smaller_gc_heap_is_the_first_cure(folder: Path) -> None:
    text = 'firmware = "full"\nprogram = "32K"\n[camera]\nsize = "QVGA"\n' + entry(
        "larger", 0x300000
    )
    got, infos = answer(folder, text)
    assert not got.fits
    changes, after = cheapest(got, infos)
    assert after is not None and after.fits
    assert [c.kind for c in changes] == ["gc_heap"]
    assert 65536 <= after.project.gc_heap < 512 << 10
    assert f"set_gc_heap({after.project.gc_heap})" in changes[0].text()


def test_short_of_gc_heap_a_larger_one(folder: Path) -> None:
    text = 'firmware = "minimum"\n[[pool]]\nsize = "QVGA"\ncount = 2\nai = true\n'
    got, infos = answer(folder, text)
    pool = got.steps[-1]
    assert pool.need == 2 * (153600 + 230400 + 64) and not pool.fits
    changes, after = cheapest(got, infos)
    assert after is not None and after.fits and [c.kind for c in changes] == ["gc_heap"]
    assert after.project.gc_heap > 512 << 10


@pytest.mark.parametrize("build", sorted(FIRMWARES))
def test_gc_heaps_that_are_refused_are_those_that_the_board_refuses(build: str) -> None:
    k210_board.reset(build)
    port = maixmem_k210.Port()
    most = maixmem_k210_gc.max_gc_heap_now()
    for size in (0, 1024, 61440, 65535, 65536, most, most + 1, 6 << 20):
        wanted = Project(FIRMWARES[build], gc_heap=size, program=0)
        try:
            port.set_gc_heap(size)
        except ValueError as e:
            why = str(e).split(": ", 1)[1].split(" (")[0]  # free bytes differ by what boot took
            with pytest.raises(ValueError, match=f"GC heap of {size} bytes: {re.escape(why)}"):
                fit(wanted)
        else:
            assert fit(wanted).fits
    k210_board.reset()


def test_nothing_helps_is_said(folder: Path) -> None:
    got, infos = answer(folder, 'firmware = "lvgl"\n[[pool]]\nname = "p"\nsize = [2000, 2000]\n')
    assert not got.fits and cheapest(got, infos) == ([], None)
    made = of_plan.of_fit(got, [], None, "en")
    assert made.cause.startswith("p needs 7.6 MiB of GC heap, and ") and made.sure == "computed"
    assert made.step and made.step.text.startswith("Keep less at once: none of the changes")
    larger = 'firmware = "lvgl"\n[camera]\nsize = "VGA"\n' + entry("larger", 0x300000)
    step = of_plan.of_fit(answer(folder, larger)[0], [], None, "en").step
    assert step and step.text.startswith("Use a smaller model or camera frame:")


def test_the_changes_of_a_plan_are_the_step_of_its_answer(folder: Path) -> None:
    got, infos = answer(folder, 'firmware = "full"\n' + entry("small", 0x200000))
    changes, after = cheapest(got, infos)
    for language in LANGUAGES:
        made = of_plan.of_fit(got, changes, after, language)
        assert made.step and made.step.text == changes[0].text(language)
        assert made.key == "plan_wrong" and "0x200000" in made.cause and made.proof
        assert not made.others


def test_resident_models_are_counted_first_hand(folder: Path) -> None:
    text = (
        'firmware = "full"\n'
        + entry("large", 0x300000, "resident = true")
        + entry("small", 0x600000)
    )
    got, infos = answer(folder, text)
    large, small = got.steps[-2:]
    assert not large.turn
    # what boot left unseen was given back for `small`; up to the end of a page
    assert abs(large.total - large.need - small.free) < 4096
    if not got.fits:
        assert cheapest(got, infos)[1] is not None


def test_the_display_costs_nothing_after_boot(folder: Path) -> None:
    got, _ = answer(folder, 'firmware = "full"\nlcd = true\n' + entry("small", 0x300000))
    lcd = next(s for s in got.steps if s.what == "lcd")
    assert (lcd.need, lcd.peak) == (0, 0)


def test_windowing_does_not_make_the_camera_smaller(folder: Path) -> None:
    text = 'firmware = "full"\n[camera]\nsize = "QVGA"\n'
    for more in ("", "windowing = [224, 224]\n"):
        got, _ = answer(folder, text + more + entry("small", 0x300000))
        camera, small = (s for s in got.steps if s.region == "heap")
        assert camera.need == 384000
        assert camera.peak == 389120  # measured on the firmware (v0.6.2_84)
        given_back = small.free - (camera.free - camera.peak)
        assert 0 <= given_back <= 32768  # what boot left unseen


def test_images_and_results_are_steps(folder: Path) -> None:
    text = (
        'firmware = "minimum"\n[[image]]\nname = "small"\nsize = [28, 28]\n'
        '[[image]]\nname = "gray"\nmake = "to_grayscale"\nsize = [160, 120]\n'
        '[[image]]\nname = "for the KPU"\nsize = [160, 120]\nai = true\n'
        '[[result]]\nname = "scores"\nvalues = 1000\n'
    )
    got, _ = answer(folder, text)
    need = {s.what: s.need for s in got.steps if s.region == "gc"}
    # measured on the firmware (v0.6.2_84), each within a block or two of 32 bytes
    assert abs(need["small"] - 1664) <= 64
    assert abs(need["gray"] - 76864) <= 64
    assert abs(need["for the KPU"] - (38464 + 69184)) <= 64
    assert abs(need["scores"] - 40032) <= 64


def test_turns_come_before_another_firmware(folder: Path) -> None:
    text = 'firmware = "full"\n' + "".join(
        entry(n, a, "resident = true") for n, a in (("large", 0x300000), ("larger", 0x600000))
    )
    got, infos = answer(folder, text)
    assert not got.fits
    changes, after = cheapest(got, infos)
    assert after is not None and [c.kind for c in changes] == ["turns"]


def test_what_goes_with_a_change_is_computed_with_it(folder: Path) -> None:
    """The GC heap that is proposed beside other changes is the one that their project wants."""
    pools = '[[pool]]\nsize = "QVGA"\ncount = 3\nai = true\n'
    text = 'firmware = "full"\n[camera]\nsize = "QVGA"\n' + pools
    text += entry("small", 0x200000, "resident = true")
    got, infos = answer(folder, text)
    changes, after = cheapest(got, infos)
    assert after is not None and after.fits and {c.kind for c in changes} >= {"flash", "gc_heap"}
    spare = after.steps[0].total - after.peak("gc")
    assert 0 <= spare < 32 << 10, "no more GC heap than that project wants"
