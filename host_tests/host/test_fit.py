# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem fit`: verdicts, the fewest changes, the picture, and wrong input."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import k210_board
import kmodel_build
import maixmem_k210
import pytest
from click.testing import CliRunner
from maixmem_cli.cli import main
from maixmem_cli.firmwares import FIRMWARES
from maixmem_cli.fit import fit, headers
from maixmem_cli.fit_cure import changes, cure
from maixmem_cli.project import EXAMPLE, Project, ProjectError, read


def model(folder: Path, name: str, channels: tuple[int, ...]) -> str:
    layers = [("conv", n) for n in channels] + [("dequantize",)]
    (folder / name).write_bytes(kmodel_build.v3((28, 28, 3), layers).to_bytes())
    return name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three models: 0.4, 1.5 and 1.8 MB."""
    model(tmp_path, "small.kmodel", (128, 256, 64))
    model(tmp_path, "large.kmodel", (256, 512, 64))
    model(tmp_path, "larger.kmodel", (256, 512, 128))
    return tmp_path


def project(folder: Path, text: str) -> Path:
    path = folder / "project.toml"
    path.write_text(text)
    return path


def entry(name: str, address: int, more: str = "") -> str:
    return f'[[model]]\nname = "{name}"\nfile = "{name}.kmodel"\naddress = {address:#x}\n{more}\n'


def answer(folder: Path, text: str):
    wanted = read(project(folder, text))
    return fit(wanted), headers(wanted)


def test_one_model_fits_and_stays(folder: Path) -> None:
    got, _ = answer(folder, 'firmware = "full"\n' + entry("small", 0x300000))
    assert got.fits and got.turns == []
    step = got.steps[-1]
    assert step.free == step.total == FIRMWARES["full"].heap
    assert step.need >= (folder / "small.kmodel").stat().st_size + 256
    assert step.peak >= step.need + 262274 - got.steps[-1].need // 2


def test_two_that_do_not_fit_together_take_turns(folder: Path) -> None:
    got, _ = answer(
        folder, 'firmware = "full"\n' + entry("small", 0x300000) + entry("larger", 0x600000)
    )
    assert got.fits and got.turns == ["small", "larger"]
    rows = [s for s in got.steps if s.turn]
    assert rows[0].free == rows[1].free, "each starts with what the other gave back"


def test_the_same_two_stay_on_the_minimum_build(folder: Path) -> None:
    got, _ = answer(
        folder, 'firmware = "minimum"\n' + entry("small", 0x300000) + entry("larger", 0x600000)
    )
    assert got.fits and got.turns == []


def test_a_camera_that_is_made_after_the_models_counts_the_largest_of_them(folder: Path) -> None:
    text = 'firmware = "full"\norder = ["models", "camera", "lcd", "pools"]\n[camera]\nsize = "QVGA"\n'
    got, _ = answer(folder, text + entry("small", 0x300000) + entry("larger", 0x600000))
    camera = next(s for s in got.steps if s.what == "camera")
    assert camera.free == camera.total - max(s.need for s in got.steps if s.turn)
    assert camera.need == 384000


def test_a_model_under_the_firmware_is_found_and_moved(folder: Path) -> None:
    got, infos = answer(folder, 'firmware = "full"\n' + entry("small", 0x200000))
    assert not got.fits and len(got.flash) == 1 and "0x200000" in got.flash[0]
    changes, after = cure(got, infos)
    assert after is not None and after.fits and [c.kind for c in changes] == ["flash"]
    assert after.project.models[0].address % 4096 == 0
    assert after.project.models[0].address >= FIRMWARES["full"].image + 37


def test_short_of_system_heap_a_smaller_gc_heap_is_the_first_cure(folder: Path) -> None:
    text = 'firmware = "full"\nprogram = "32K"\n[camera]\nsize = "QVGA"\n' + entry(
        "larger", 0x300000
    )
    got, infos = answer(folder, text)
    assert not got.fits
    changes, after = cure(got, infos)
    assert after is not None and after.fits
    assert [c.kind for c in changes] == ["gc_heap"]
    assert 65536 <= after.project.gc_heap < 512 << 10
    assert f"set_gc_heap({after.project.gc_heap})" in changes[0].text


def test_short_of_gc_heap_a_larger_one(folder: Path) -> None:
    text = 'firmware = "minimum"\n[[pool]]\nsize = "QVGA"\ncount = 2\nai = true\n'
    got, infos = answer(folder, text)
    pool = got.steps[-1]
    assert pool.need == 2 * (153600 + 230400 + 64) and not pool.fits
    changes, after = cure(got, infos)
    assert after is not None and after.fits and [c.kind for c in changes] == ["gc_heap"]
    assert after.project.gc_heap > 512 << 10


@pytest.mark.parametrize("build", sorted(FIRMWARES))
def test_gc_heaps_that_are_refused_are_those_that_the_board_refuses(build: str) -> None:
    k210_board.reset(build)
    port = maixmem_k210.Port()
    most = port.max_gc_heap()
    for size in (0, 1024, 61440, 65535, 65536, most, most + 1, 6 << 20):
        wanted = Project(build, gc_heap=size, program=0)
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
    got, infos = answer(folder, 'firmware = "lvgl"\n[[pool]]\nsize = [2000, 2000]\n')
    assert not got.fits and cure(got, infos) == ([], None)


def test_resident_models_are_counted_first_hand(folder: Path) -> None:
    text = (
        'firmware = "full"\n'
        + entry("large", 0x300000, "resident = true")
        + entry("small", 0x600000)
    )
    got, infos = answer(folder, text)
    large, small = got.steps[-2:]
    assert not large.turn and small.free == large.free - large.need
    if not got.fits:
        assert cure(got, infos)[1] is not None


# --- the command ---


def run(*arguments: object):
    return CliRunner().invoke(main, ["fit", *map(str, arguments)])


def test_exit_status_and_json(folder: Path) -> None:
    path = project(folder, 'firmware = "full"\n' + entry("small", 0x300000))
    done = run(path, "--json")
    assert done.exit_code == 0
    data = json.loads(done.stdout)
    assert data["fits"] is True and data["peak"]["heap"] > 0 and data["changes"] == []
    path = project(folder, 'firmware = "full"\n' + entry("small", 0x200000))
    done = run(path, "--json")
    assert done.exit_code == 1 and json.loads(done.stdout)["after"]["fits"] is True


def test_the_table_and_the_picture(folder: Path) -> None:
    path = project(
        folder, 'firmware = "full"\n' + entry("small", 0x300000) + entry("larger", 0x600000)
    )
    done = run(path, "--svg", folder / "map.svg")
    assert done.exit_code == 0 and "FITS" in done.output and "take turns" in done.output
    root = ElementTree.parse(folder / "map.svg").getroot()
    texts = "".join(root.itertext())
    assert "small" in texts and "larger" in texts and "system heap" in texts


@pytest.mark.parametrize("name", ["[/x]", "\\\\[/x]", ":smile:", "[red]a"])
def test_names_are_shown_as_they_are(folder: Path, name: str) -> None:
    text = 'firmware = "full"\n[[pool]]\nsize = "QVGA"\ncount = {}\nname = "{}"\n'
    shown = name.replace("\\\\", "\\")
    done = run(project(folder, text.format(1, name)))
    assert done.exit_code == 0 and f" {shown} " in f" {done.output}", done.output
    done = run(project(folder, text.format(9, name)))
    assert done.exit_code == 1 and f"\n{shown}: " in done.output, done.output


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_picture_that_cannot_be_written(folder: Path, more: list[str]) -> None:
    path = project(folder, 'firmware = "full"\n')
    done = run(path, "--svg", "/nonexist/a.svg", *more)
    assert done.exit_code == 2
    said = json.loads(done.stdout)["error"] if more else done.output
    assert "--svg" in said and "/nonexist/a.svg cannot be written" in said


@pytest.mark.parametrize("count", [60, 90000])
def test_large_pools_are_answered_at_once(folder: Path, count: int) -> None:
    pools = "".join(f'[[pool]]\nname = "{n}"\nsize = "QVGA"\ncount = {count}\n' for n in "ab")
    got, infos = answer(folder, 'firmware = "minimum"\n[camera]\nsize = [2000, 2000]\n' + pools)
    assert len(list(changes(got))) < 60
    assert cure(got, infos) == ([], None)
    got, infos = answer(folder, 'firmware = "minimum"\n' + pools.replace('"QVGA"', "[100, 100]"))
    _, after = cure(got, infos)
    assert after is not None and after.fits
    for i, pool in enumerate(after.project.pools):
        rows = list(after.project.pools)
        rows[i] = replace(pool, count=pool.count + 1)
        assert not fit(replace(after.project, pools=tuple(rows)), infos).fits, "one more would fit"


def test_the_largest_count_that_fits_is_proposed(folder: Path) -> None:
    text = 'firmware = "full"\n[[pool]]\nsize = [100, 100]\ncount = 5000\n'
    got, infos = answer(folder, text)
    (change,), after = cure(got, infos)
    assert after is not None and change.kind == "pool pool 1"
    (pool,) = after.project.pools
    larger = replace(after.project, pools=(replace(pool, count=pool.count + 1),))
    assert 1 < pool.count and not fit(larger, infos).fits


def test_init_writes_an_example_that_works(folder: Path) -> None:
    done = run("--init")
    assert done.exit_code == 0 and done.output == EXAMPLE
    (folder / "faces.kmodel").write_bytes((folder / "small.kmodel").read_bytes())
    assert run(project(folder, done.output)).exit_code in (0, 1)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("firmware = 'huge'", "huge"),
        ("", "firmware"),
        ("firmware = 'full'\nspeed = 1", "speed"),
        ("firmware = 'full'\ngc_heap = 'big'", "gc_heap"),
        ("firmware = 'full'\ngc_heap = '9M'", "9437184"),
        ("firmware = 'full'\nprogram = 0\ngc_heap = 0", "65536"),
        (
            "firmware = 'full'\nprogram = '4K'\ngc_heap = '16K'",
            "GC heap of 16384 bytes: below 65536",
        ),
        ("firmware = 'full'\nprogram = '4K'\ngc_heap = '63K'", "Next: 65536 or more"),
        ("firmware = 'full'\ngc_heap = '2850K'", "at most 2891776"),
        ("firmware = 'full'\norder = ['camera']", "order"),
        ("firmware = 'full'\n[camera]\nsize = 'XGA'", "XGA"),
        ("firmware = 'full'\n[[model]]\nfile = 'no.kmodel'\naddress = 0x300000", "no.kmodel"),
        ("firmware = 'full'\n[[model]]\nfile = 'small.kmodel'", "address"),
        ("firmware = 'full'\n[[model]]\nfile = 'small.kmodel'\naddress = 0x1000000", "0x1000000"),
        (
            "firmware = 'full'\n[[model]]\nfile = 'small.kmodel'\npath = '/sd/a.kmodel'\nstream = true",
            "stream",
        ),
        ("firmware = 'full'\n[[model]]\nfile = 'junk.kmodel'\naddress = 0x300000", "junk.kmodel"),
        ("firmware = 'full'\n[[pool]]\nsize = [0, 1]", "size"),
        ("firmware = 'full'\n[[pool]]\nsize = [1, 1]\ncount = 0", "count"),
        ("firmware = 'full'\n[model]\nx = 1", "two brackets"),
        ("firmware = ", "not TOML"),
        ("x = " + "[" * 9000, "not TOML"),
        ("firmware = ['full']", "firmware = ['full']: known are "),
        ("firmware = 'full'\norder = [1, 'camera']", "each of camera, lcd, models, pools once"),
        ("firmware = 'full'\norder = ['camera', ['lcd'], 'models', 'pools']", "order"),
        ("firmware = 'full'\n[camera]\nsize = [true, true]", "[camera] size = [True, True]"),
        ("firmware = 'full'\n[[model]]\nfile = 'small.kmodel'\npath = 'x'", "path = 'x'"),
        ("firmware = 'full'\n[[model]]\nfile = 'small.kmodel'\npath = '/sd/'", "path = '/sd/'"),
        (
            "firmware = 'full'\n[[model]]\nfile = 'small.kmodel'\npath = '/flash/d/a.kmodel'",
            "/flash has no folders",
        ),
        (
            "firmware = 'full'\n[[model]]\nfile = '/proc/self/mem'\naddress = '3M'",
            "cannot be read",
        ),
        (
            "firmware = 'full'\n[[model]]\nfile = 'small.kmodel'\naddress = '3M'\nname = \"\\u001b\"",
            "printable",
        ),
        ("firmware = 'full'\n[[pool]]\nsize = [1, 1]\ncount = 100000000", "count = 100000000"),
        ("firmware = 'full'\n" + "[[pool]]\nname = 'a'\nsize = [1, 1]\n" * 2, "two pools"),
    ],
)
def test_wrong_input_is_one_line_that_names_it(folder: Path, text: str, word: str) -> None:
    (folder / "junk.kmodel").write_bytes(b"version https://git-lfs" + bytes(100))
    done = run(project(folder, text))
    assert done.exit_code == 2
    (line,) = done.output.splitlines()
    assert word in line and "Next: " in line


def test_two_models_of_one_name(folder: Path) -> None:
    with pytest.raises(ProjectError, match="small"):
        read(project(folder, 'firmware = "full"\n' + entry("small", 0x300000) * 2))
