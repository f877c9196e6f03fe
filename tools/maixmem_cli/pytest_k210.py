# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A pytest fixture: your script on your own firmware, with budgets. One line in your conftest.py:

    pytest_plugins = ["maixmem_cli.pytest_k210"]

and then, with `pytest --k210-firmware=maixpy.bin`, $MAIXMEM_FIRMWARE or the firmware of a
project.toml beside the script,

    @pytest.mark.limit_heap("4M")
    @pytest.mark.limit_gc("300K")
    def test_main(k210_firmware):
        run = k210_firmware.run("main.py", frames=50)
        assert run.error == ""

A leak fails the test, as it fails `maixmem profile`, but for one that `limit_growth` or a baseline
accepts. Without an image such tests are skipped, and say so. Each run has a board of its own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from maixmem_cli.emulator.compiler import NoBoardHere
from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.flash.image import ImageError
from maixmem_cli.plan.program import project
from maixmem_cli.profiler import compare, gate, plain, profile
from maixmem_cli.runs import bounded
from maixmem_cli.text.numbers import parse_size

_OPTION = "--k210-firmware"
_IMAGES = (".bin", ".kfpkg")
_MARKS = {"limit_heap": "max_heap", "limit_gc": "max_gc_live", "limit_growth": "max_growth"}
_MEANING = {
    "limit_heap": "the system heap has no more in use",
    "limit_gc": "no more of the GC heap is in use at once, garbage not counted",
    "limit_growth": "a line may keep so many bytes a round: a smaller leak is accepted",
}


@dataclass(frozen=True)
class Run:
    """What a script printed, its traceback ("" when none), how it ended, and where its memory
    went, as `maixmem profile --json` has it."""

    output: str
    error: str
    ended: str
    profile: dict[str, Any]


class Firmware:
    """An image, or None for that of the project, and the budgets of a test."""

    def __init__(self, image: Path | None, folder: Path, limits: gate.Limits) -> None:
        self.image = image
        self._folder = folder
        self._limits = limits

    def run(
        self,
        script: str | Path,
        *,
        models: dict[int, str | Path] | None = None,
        camera: str | None = None,
        frames: int | None = None,
        seconds: float | None = None,
        sd: str | Path | None = None,
        gc_heap: int | None = None,
        baseline: str | Path | None = None,
        tolerance: str = gate.TOLERANCE,
    ) -> Run:
        """Runs a script on a new board; names of files are seen from the test's folder.

        `models` are {flash address: file}, `sd` the folder that is the card; what is not given,
        and budgets, come from a project.toml beside the script. The test fails when a budget is
        not kept, on a leak that is not accepted, and when a script with budgets raises. `baseline`
        is an earlier `maixmem profile --json`."""
        path = self._folder / script
        setup = _setup(path)
        given = tuple((at, self._folder / file) for at, file in (models or {}).items())
        options = Options(
            files=given or setup.flash,
            gc_heap=gc_heap,
            sd=self._folder / sd if sd else setup.sd,
            camera=camera or ("pattern" if setup.camera else None),
            frames=frames,
            seconds=seconds,
        )
        part, old = _baseline(self._folder / baseline if baseline else None, tolerance)
        said: list[str] = []
        try:
            with Session(self._image(setup), path, options) as session:
                result = profile.run(session, said.append)
                bounded.settle(result)
        except NoBoardHere as e:
            pytest.skip(f"NO BOARD IN SOFTWARE: {e}")
        except ImageError as e:
            pytest.fail(str(e), pytrace=False)
        told = plain.data(result)
        limits = self._limits.over(setup.limits)
        if told["error"] and (limits != gate.Limits() or old):
            pytest.fail(f"{script} failed: {told['error'].strip()}", pytrace=False)
        failed = gate.breaches(told, limits, old, part)
        if failed:
            parent = Path(script).parent
            pytest.fail("\n".join(b.in_folder(parent).told for b in failed), pytrace=False)
        return Run("".join(said), result.outcome.error, result.outcome.kind, told)

    def _image(self, setup: project.Setup) -> Path:
        if self.image:
            return self.image
        if setup.firmware and setup.firmware not in FIRMWARES:
            return Path(setup.firmware)
        pytest.skip(f"NO FIRMWARE: give pytest {_OPTION}=IMAGE, or set MAIXMEM_FIRMWARE")


def _setup(script: Path) -> project.Setup:
    beside = script.parent / "project.toml"
    try:
        return project.setup(beside) if beside.is_file() else project.Setup()
    except (project.ProjectError, OSError) as e:
        pytest.fail(f"{beside}: {e}", pytrace=False)


def _baseline(path: Path | None, tolerance: str) -> tuple[Fraction, dict[str, Any] | None]:
    try:
        return gate.percent(tolerance), compare.load(path) if path else None
    except (ValueError, OSError) as e:
        pytest.fail(str(e), pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(_OPTION, metavar="IMAGE", help="firmware for the fixture k210_firmware")


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in _MEANING.items():
        config.addinivalue_line("markers", f'{name}(size): {meaning}: bytes, or "300K"')


def _image(config: pytest.Config) -> Path | None:
    """The image of the option, or the first of the environment's. One that is named and is none is
    a failure: a gate that is skipped is no gate."""
    given = config.getoption(_OPTION)
    names = [given] if given else os.environ.get("MAIXMEM_FIRMWARE", "").split(os.pathsep)
    paths = [Path(n) for n in names if n]
    for path in paths:
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        images = [p for p in inside if p.is_file() and p.suffix in _IMAGES]
        if images:
            return images[0].resolve()
    if paths:
        where = _OPTION if given else "MAIXMEM_FIRMWARE"
        named = ", ".join(map(str, paths))
        pytest.fail(f"{where}={named}: no .bin or .kfpkg of MaixPy v1 there", pytrace=False)
    return None


@pytest.fixture
def k210_firmware(request: pytest.FixtureRequest) -> Firmware:
    """A firmware that scripts run on; the test's marks are their budgets."""
    sizes: dict[str, int] = {}
    for mark, limit in _MARKS.items():
        found = request.node.get_closest_marker(mark)
        if found:
            size = found.args[0]
            sizes[limit] = size if isinstance(size, int) else parse_size(size)
    return Firmware(_image(request.config), request.path.parent, gate.Limits(**sizes))
