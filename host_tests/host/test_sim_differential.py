# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""200 random sequences of calls that take memory: the stand-in's heap_free() after each is that of the real firmware.

Needs $MAIXMEM_FIRMWARE: files, or folders with files, of MaixPy v0.6.2_84 (full build)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import kmodel_build
import paths
import pytest
import sim_sequences
from maixmem_cli import places
from maixmem_cli.firmwares import FIRMWARES

ROUNDS, LENGTH, PROGRAMS = 10, 12, 20


def _firmware(build: str) -> Path | None:
    """The file of a build, known by its size."""
    for name in os.environ.get("MAIXMEM_FIRMWARE", "").split(os.pathsep):
        place = Path(name)
        files = sorted(place.iterdir()) if name and place.is_dir() else [place]
        for path in files:
            if path.is_file() and path.stat().st_size == FIRMWARES[build].image:
                return path
    return None


FULL = _firmware("full")
pytestmark = [
    pytest.mark.skipif(FULL is None, reason="no full build of v0.6.2_84 in $MAIXMEM_FIRMWARE"),
    pytest.mark.skipif(places.micropython() is None, reason="no MicroPython unix port here"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here: no board"),
]


def _sim(folder: Path, *options: str) -> list[str]:
    """What the program printed: a call and heap_free() after it."""
    command = [sys.executable, "-m", "maixmem_cli", "sim", str(folder / "program.py"), *options]
    done = subprocess.run(
        command, cwd=paths.TOOLS, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return re.findall(r"^[^[\r\n][^\r\n]* \d+$", done.stdout.replace("\r", ""), re.M)


@pytest.mark.parametrize("seed", range(1, PROGRAMS + 1))
def test_sequences_are_equal(seed: int, tmp_path: Path) -> None:
    program = sim_sequences.program(seed, ROUNDS, LENGTH)
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    flash = []
    for address, layers in ((0x300000, 190000), (0x400000, 350000)):
        path = tmp_path / f"{address:x}.kmodel"
        model = kmodel_build.v3((28, 28, 1), [("conv", 16), ("raw", 15, layers)])
        path.write_bytes(model.to_bytes())
        flash += ["--flash", f"{address:#x}={path}"]
    real = _sim(tmp_path, "--firmware", str(FULL), "--camera", "pattern", *flash)
    assert len(real) == ROUNDS * (LENGTH + 1)
    assert _sim(tmp_path, "--firmware", "full", *flash) == real
