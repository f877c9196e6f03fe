# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The examples that switch models, as a user runs them, on the K210 stand-in: each build, roomy
and tight."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import k210_board as board
import maixmem
import paths
import pytest
from kmodel_build import v3, v4
from maixmem_k210_kpu import Port


@pytest.fixture(autouse=True)
def k210_port():
    maixmem.set_port(None)
    yield
    maixmem.set_port(None)


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, paths.ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def power_on(firmware: str, flash: dict) -> None:
    board.reset(firmware, flash=flash)
    maixmem.set_port(Port())


def classifier(kib: int = 100):
    return v3((224, 224, 3), [("conv", 8), ("raw", 2, kib << 10), ("conv", 10)])


def finder(kib: int = 350):
    half = {"halve": True}
    first = [("conv", 8, half), ("conv", 8, half), ("conv", 8, half), ("conv", 30, half)]
    return v3((320, 240, 3), first[:3] + [("raw", 2, kib << 10)] + first[3:])


@pytest.mark.parametrize("firmware", sorted(board.FIRMWARES))
def test_button_switch(firmware: str, capsys: pytest.CaptureFixture[str]) -> None:
    power_on(firmware, {0x300000: classifier(), 0x600000: finder()})
    presses = iter([False, True] * 10)
    assert example("button_switch").main(20, lambda: next(presses)) == 10
    out = capsys.readouterr().out
    assert out.count("classify class") == 10 and out.count("faces 0 faces") == 10
    assert "11 switches" in out
    assert not board.nets()


def test_button_switch_when_one_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    power_on("full", {0x300000: classifier(), 0x600000: finder(2400)})
    presses = iter([False, True] * 3)
    example("button_switch").main(6, lambda: next(presses))
    out = capsys.readouterr().out
    assert out.count("classify class") == 3 and out.count("resident now: classify, as before") == 3
    assert not board.nets()


def test_button_switch_without_a_button(capsys: pytest.CaptureFixture[str]) -> None:
    power_on("minimum", {0x300000: classifier(), 0x600000: finder()})
    assert example("button_switch").main(250) == 2


@pytest.mark.parametrize(
    "firmware, describe, resident",
    [("openmv_v4", 700, 3), ("full", 700, 3), ("full", 1100, 2), ("minimum", 1100, 3)],
)
def test_face_recognition(
    firmware: str, describe: int, resident: int, capsys: pytest.CaptureFixture[str]
) -> None:
    make, shape = (v3, (128, 128, 3)) if firmware == "minimum" else (v4, (64, 64, 3))
    last = [("conv", 16), ("raw", 2 if make is v3 else 0x1003, describe << 10), ("conv", 8)]
    flash = {
        0x300000: finder(),
        0x400000: v3((128, 128, 3), [("conv", 10), ("raw", 2, 150 << 10), ("conv", 10)]),
        0x500000: make(shape, last),
    }
    power_on(firmware, flash)
    known = example("face_recognition").main(
        6, lambda net, img: (100, 60, 90, 90) if net.run_yolo2(img) is None else None
    )
    assert len(known) == 1
    out = capsys.readouterr().out
    assert out.count("person 0") == 6
    assert sum(line.startswith("*") for line in out.splitlines()) == resident, out
    assert not board.nets()
