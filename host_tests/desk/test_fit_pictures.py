# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem fit` on pictures that are not of the size that a model takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fit_kit import answer, entry, model, project, run

_CAMERA = 'firmware = "minimum"\n[camera]\nsize = "QVGA"\n'
_ROW = '[[{}]]\nname = "small one"\nsize = [28, 28]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model(tmp_path, "small.kmodel", (64, 32))  # takes 28x28
    return tmp_path


def test_a_picture_that_is_not_the_models_is_no_plain_fits(folder: Path) -> None:
    path = project(folder, _CAMERA + entry("small", 0x300000))
    done = run(path)
    assert done.exit_code == 1 and "\nFITS\n" not in done.output, done.output
    said = " ".join(done.output.split())
    for words in ("small takes 28x28", "camera 320x240", "sensor.set_windowing((28, 28))"):
        assert words in said, (words, said)
    data = json.loads(run(path, "--json").stdout)
    assert data["fits"] is True, "it is the picture, not the memory"
    assert "28x28" in data["pictures"][0]


@pytest.mark.parametrize(
    "made", ["windowing = [28, 28]\n", _ROW.format("pool"), _ROW.format("image")]
)
def test_one_picture_of_its_size_is_enough(folder: Path, made: str) -> None:
    done = run(project(folder, _CAMERA + made + entry("small", 0x300000)))
    assert done.exit_code == 0 and "FITS\n" in done.output, done.output


def test_a_project_without_pictures_says_nothing_about_them(folder: Path) -> None:
    got, _ = answer(folder, 'firmware = "minimum"\n' + entry("small", 0x300000))
    assert got.pictures == []


def test_a_window_is_proposed_where_the_frame_is_large_enough(folder: Path) -> None:
    text = 'firmware = "minimum"\n[camera]\nsize = "QQQQVGA"\n' + entry("small", 0x300000)
    got, _ = answer(folder, text)
    assert "set_windowing" in got.pictures[0] and "size = " not in got.pictures[0]
    got, infos = answer(folder, text.replace("QQQQVGA", "B64X32"))
    infos["small"].inputs = [((1, 3, 48, 64), "u8", 9216)]
    from maixmem_cli.plan.program.picture_size import wrong_sizes

    (said,) = wrong_sizes(got.project, infos)
    assert "takes 64x48" in said and "size = 'B64X64' and sensor.set_windowing((64, 48))" in said
