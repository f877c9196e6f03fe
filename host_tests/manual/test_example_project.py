# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""examples/doorbell: a script, its tests and its project.toml, used as its reader would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import emulated
import kmodel_build
import paths
import pytest

_LAYERS = [
    ("conv", 8, {"halve": True}),
    ("conv", 8, {"halve": True}),
    ("conv", 30, {"halve": True}),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "doorbell"
    shutil.copytree(
        paths.EXAMPLES / "doorbell", folder, ignore=shutil.ignore_patterns("__pycache__")
    )
    model = kmodel_build.v3((320, 240, 3), _LAYERS)
    (folder / "face.kmodel").write_bytes(model.to_bytes())
    return folder


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", NO_COLOR="1", COLUMNS="100")
    for name in ("DOORBELL_MODEL", "MAIXMEM_FIRMWARE"):
        env.pop(name, None)
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_its_tests_pass(project: Path) -> None:
    done = _run(project, "pytest", "-q", "-c", os.devnull, "--rootdir", str(project), ".")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed, 1 skipped" in done.stdout  # that one needs a firmware


@emulated.needs_cc
@emulated.needs_image
def test_it_keeps_its_budgets_on_a_firmware(project: Path) -> None:
    image = f"--k210-firmware={emulated.IMAGES[0]}"
    shutil.copy(emulated.model("v3_facedetect_fcaro.kmodel"), project / "face.kmodel")
    words = ("-q", "-c", os.devnull, "--rootdir", str(project), image, "test_firmware.py")
    done = _run(project, "pytest", *words)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_its_script_runs_in_sim(project: Path) -> None:
    flash = f"0x300000={project / 'face.kmodel'}"
    done = _run(project, "maixmem_cli", "sim", "main.py", "--flash", flash, "--frames", "100")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100 frames" in done.stdout.splitlines()[-1]
    assert "model 0x300000: " in done.stdout


def test_its_project_file_fits(project: Path) -> None:
    done = _run(project, "maixmem_cli", "fit", "project.toml")
    assert done.returncode == 0, done.stdout + done.stderr
