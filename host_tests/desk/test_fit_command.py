# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem fit` as a user runs it: the tables, the picture, the example, and wrong input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import maixmem_kmodel
import pytest
from fit_kit import answer, entry, project, run, three_models
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.plan.changes import changes, cheapest
from maixmem_cli.plan.fit import fit
from maixmem_cli.plan.program.project import EXAMPLE, EXAMPLE_MODEL, ProjectError, read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return three_models(tmp_path)


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
    assert "small" in texts and "larger" in texts and "System heap" in texts
    for word in (
        "limit",
        "stays",
        "used before",
        "only while the step runs",
        "steps of the program",
    ):
        assert word in texts, word
    assert "missing" in texts and "MiB missing" not in texts, "the legend only: nothing is missing"


@pytest.mark.parametrize("name", ["[/x]", "\\\\[/x]", ":smile:", "[red]a"])
def test_names_are_shown_as_they_are(folder: Path, name: str) -> None:
    text = 'firmware = "full"\n[[pool]]\nsize = "QVGA"\ncount = {}\nname = "{}"\n'
    shown = name.replace("\\\\", "\\")
    done = run(project(folder, text.format(1, name)))
    assert done.exit_code == 0 and f"\n{shown} " in done.output, done.output
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
    got, infos = answer(folder, 'firmware = "minimum"\n[camera]\nsize = "UXGA"\n' + pools)
    assert len(list(changes(got))) < 60
    assert cheapest(got, infos) == ([], None)
    got, infos = answer(folder, 'firmware = "minimum"\n' + pools.replace('"QVGA"', "[100, 100]"))
    _, after = cheapest(got, infos)
    assert after is not None and after.fits
    for i, pool in enumerate(after.project.pools):
        rows = list(after.project.pools)
        rows[i] = replace(pool, count=pool.count + 1)
        assert not fit(replace(after.project, pools=tuple(rows)), infos).fits, "one more would fit"


def test_the_largest_count_that_fits_is_proposed(folder: Path) -> None:
    text = 'firmware = "full"\n[[pool]]\nsize = [100, 100]\ncount = 5000\n'
    got, infos = answer(folder, text)
    (change,), after = cheapest(got, infos)
    assert after is not None and change.kind == "pool pool 1"
    (pool,) = after.project.pools
    larger = replace(after.project, pools=(replace(pool, count=pool.count + 1),))
    assert 1 < pool.count and not fit(larger, infos).fits


def test_without_a_project_init_is_the_next_step(tmp_path: Path) -> None:
    assert "`maixmem init FOLDER`" in run().output
    path = tmp_path / "project.toml"
    path.write_text('firmware = "full"\n[[model]]\nfile = "gone.kmodel"\naddress = 0x300000\n')
    done = run(path)
    assert done.exit_code == 2 and "`maixmem init FOLDER`" in done.output, done.output


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
        (
            "firmware = 'full'\norder = ['models']\n[camera]\nsize = 'QVGA'",
            "order has no 'camera', and the project has camera",
        ),
        ("firmware = 'full'\norder = ['camera', 'camera']", "once at most"),
        ("firmware = 'full'\n[camera]\nsize = [224, 224]", 'size = "B240X240" and windowing'),
        (
            "firmware = 'full'\n[camera]\nsize = 'QVGA'\nwindowing = [400, 224]",
            "larger than QVGA, [320, 240]",
        ),
        ("firmware = 'full'\nlcd = 5", "lcd = 5"),
        ("firmware = 'full'\n[[image]]\nsize = [8, 8]\nmake = 'magic'", "magic"),
        ("firmware = 'full'\n[[result]]\nname = 'a'", "[result 1] needs 'values'"),
        ("firmware = 'full'\n[camera]\nsize = 'XGA'", "XGA"),
        ("firmware = 'full'\n[[model]]\nfile = 'no.kmodel'\naddress = 0x300000", "no.kmodel"),
        ("firmware = 'full'\n[[model]]\nfile = 'small.kmodel'", "address"),
        ("firmware = 'full'\n[[model]]\nfile = 'small.kmodel'\naddress = 0x1000000", "0x1000000"),
        (
            (
                "firmware = 'full'\n[[model]]\nfile = 'small.kmodel'\npath = "
                "'/sd/a.kmodel'\nstream = true"
            ),
            "stream",
        ),
        ("firmware = 'full'\n[[model]]\nfile = 'junk.kmodel'\naddress = 0x300000", "junk.kmodel"),
        ("firmware = 'full'\n[[pool]]\nsize = [0, 1]", "size"),
        ("firmware = 'full'\n[[pool]]\nsize = [1, 1]\ncount = 0", "count"),
        ("firmware = 'full'\n[model]\nx = 1", "two brackets"),
        ("firmware = ", "not TOML"),
        ("x = " + "[" * 9000, "not TOML"),
        ("firmware = ['full']", "firmware = ['full']: known are "),
        (
            "firmware = 'full'\norder = [1, 'camera']",
            "each of camera, lcd, pools, images, models, results, buffers once",
        ),
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
            (
                "firmware = 'full'\n[[model]]\nfile = 'small.kmodel'\naddress = '3M'\nname = "
                '"\\u001b"'
            ),
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
