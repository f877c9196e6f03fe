# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A pytest fixture: your script on your own firmware, with budgets. One line in your conftest.py:

    pytest_plugins = ["maixmem_cli.runs.pytest_k210"]

and then, with `pytest --k210-firmware=maixpy.bin` or $MAIXMEM_FIRMWARE,

    @pytest.mark.limit_heap("4M")
    @pytest.mark.limit_gc("300K")
    def test_main(k210_firmware):
        run = k210_firmware.run("main.py", frames=50, camera="pattern")
        assert run.error == "" and not run.profile["grows"]

Without an image such tests are skipped, and say so. Each run has a board of its own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from maixmem_cli.emulator.compiler import NoBoardHere
from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.profiler import gate, plain, profile
from maixmem_cli.text.numbers import parse_size

_OPTION = "--k210-firmware"
_MARKS = {"limit_heap": "max_heap", "limit_gc": "max_gc_live", "limit_growth": "max_growth"}
_MEANING = {
    "limit_heap": "the system heap has no more in use",
    "limit_gc": "no more of the GC heap is in use at once, garbage not counted",
    "limit_growth": "no line keeps more bytes a round",
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
    """An image, and the budgets of a test."""

    def __init__(self, image: Path, folder: Path, limits: gate.Limits) -> None:
        self.image = image
        self._folder = folder
        self._limits = limits

    def run(
        self,
        script: str | Path,
        *,
        frames: int | None = None,
        seconds: float | None = None,
        camera: str | None = None,
        models: dict[int, str | Path] | None = None,
        sd: str | Path | None = None,
        gc_heap: int | None = None,
    ) -> Run:
        """Runs a script on a new board; names of files are seen from the test's folder.

        `models` are {flash address: file}, `sd` the folder that is the card. The test fails when
        a budget is not kept."""
        options = Options(
            files=tuple((at, self._folder / file) for at, file in (models or {}).items()),
            gc_heap=gc_heap,
            sd=self._folder / sd if sd else None,
            camera=camera,
            frames=frames,
            seconds=seconds,
        )
        said: list[str] = []
        try:
            with Session(self.image, self._folder / script, options) as session:
                result = profile.run(session, said.append)
        except NoBoardHere as e:
            pytest.skip(f"NO BOARD IN SOFTWARE: {e}")
        told = plain.data(result)
        failed = gate.breaches(told, self._limits)
        if failed:
            pytest.fail("\n".join(f"over budget: {b}" for b in failed), pytrace=False)
        return Run("".join(said), result.outcome.error, result.outcome.kind, told)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(_OPTION, metavar="IMAGE", help="firmware for the fixture k210_firmware")


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in _MEANING.items():
        config.addinivalue_line("markers", f'{name}(size): {meaning}: bytes, or "300K"')


def _image(config: pytest.Config) -> Path | None:
    """The image of the option, or the first of the environment's."""
    names = [config.getoption(_OPTION), *os.environ.get("MAIXMEM_FIRMWARE", "").split(os.pathsep)]
    for path in (Path(n) for n in names if n):
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        images = [p for p in inside if p.suffix in (".bin", ".kfpkg")]
        if images:
            return images[0].resolve()
    return None


@pytest.fixture
def k210_firmware(request: pytest.FixtureRequest) -> Firmware:
    """A firmware that scripts run on; the test's marks are their budgets."""
    image = _image(request.config)
    if image is None:
        pytest.skip(f"NO FIRMWARE: give pytest {_OPTION}=IMAGE, or set MAIXMEM_FIRMWARE")
    sizes: dict[str, int] = {}
    for mark, limit in _MARKS.items():
        found = request.node.get_closest_marker(mark)
        if found:
            size = found.args[0]
            sizes[limit] = size if isinstance(size, int) else parse_size(size)
    return Firmware(image, request.path.parent, gate.Limits(**sizes))
