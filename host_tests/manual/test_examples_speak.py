# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210 examples say what they do, and in one line what is missing and how to get it."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path

import k210_board as board
import maixmem
import paths
import pytest
from kmodel_build import v3

_MODEL = v3((224, 224, 3), [("conv", 8), ("conv", 10)])


@pytest.fixture(autouse=True)
def k210_port():
    maixmem.set_port(None)
    yield
    maixmem.set_port(None)
    board.reset()


def _main(name: str):
    spec = importlib.util.spec_from_file_location(name, paths.EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


@pytest.mark.parametrize("name", ["button_switch", "face_recognition", "camera_pool"])
def test_without_a_camera(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    board.reset("full", flash={0x300000: _MODEL, 0x600000: _MODEL}, camera=False)
    if name == "camera_pool":
        runpy.run_path(str(paths.EXAMPLES / f"{name}.py"))
    else:
        _main(name)(2)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("no camera (") and "Next: " in line], lines


@pytest.mark.parametrize(
    ("name", "address"),
    [("button_switch", "0x600000"), ("face_recognition", "0x400000")],
)
def test_without_a_model(name: str, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    board.reset("full", flash={0x300000: _MODEL})
    _main(name)(2)
    said = capsys.readouterr().out
    assert f"looking for its model at {address}" in said
    assert (
        f"no model at {address} (" in said and f"maixmem kfpkg FILE@{address} -o m.kfpkg" in said
    )


def test_switching_without_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    board.reset("full", flash={0x300000: _MODEL})
    runpy.run_path(str(paths.EXAMPLES / "switch_models.py"))
    said = capsys.readouterr().out
    assert "no model at 0x600000 (" in said and "--- model" not in said


def test_the_camera_loop_tells_how_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board.reset("full")
    source = (paths.EXAMPLES / "camera_pool.py").read_text(encoding="utf-8")
    short = tmp_path / "short.py"
    short.write_text(source.replace("FRAMES = 1000", "FRAMES = 250"), encoding="utf-8")
    runpy.run_path(str(short))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("pooled: 250 frames with images of two pools")
    assert len([line for line in lines if line.startswith("pooled: frame ")]) == 2
