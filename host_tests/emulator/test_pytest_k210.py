# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The fixture k210_firmware, in a pytest of its own: budgets fail tests, no image skips them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import emulated
import paths
import pytest
from emulated import needs_cc, needs_image

_TESTS = """
import pytest

@pytest.mark.limit_heap("4M")
@pytest.mark.limit_gc("300K")
def test_within(k210_firmware):
    run = k210_firmware.run("main.py")
    assert run.error == "" and run.output == "hello\\n" and run.ended == "done"

@pytest.mark.limit_heap("100K")
def test_over(k210_firmware):
    k210_firmware.run("main.py")

@pytest.mark.limit_gc(40000)
def test_gc_over(k210_firmware):
    k210_firmware.run("main.py")

def test_leak(k210_firmware):
    k210_firmware.run("folder/leak.py")

@pytest.mark.limit_growth("1K")
def test_accepted(k210_firmware):
    k210_firmware.run("folder/leak.py")

@pytest.mark.limit_growth("1K")
def test_raises(k210_firmware):
    k210_firmware.run("raises.py")
"""
_LEAK = "kept = []\nfor i in range(40):\n  kept.append(bytearray(500))\n"
_SCRIPT = "b = bytearray(50000)\nfor i in range(100):\n  c = bytearray(1000)\nprint('hello')\n"


def ran(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text('pytest_plugins = ["maixmem_cli.pytest_k210"]\n')
    (folder / "test_main.py").write_text(_TESTS)
    (folder / "main.py").write_text(_SCRIPT)
    (folder / "folder").mkdir()
    (folder / "folder" / "leak.py").write_text(_LEAK)
    (folder / "raises.py").write_text("raise ValueError('mine')\n")
    kept = {k: v for k, v in os.environ.items() if k != "MAIXMEM_FIRMWARE"}
    where = os.pathsep.join(map(str, (paths.TOOLS, *paths.DEVICE_PATH)))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *words],
        cwd=folder,
        env={**kept, "PYTHONPATH": where, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@needs_cc
@needs_image
@pytest.mark.parametrize("by_option", [True, False])
def test_budgets(tmp_path: Path, by_option: bool) -> None:
    image = str(emulated.IMAGES[0])
    if by_option:
        done = ran(tmp_path, f"--k210-firmware={image}")
    else:
        done = ran(tmp_path, "--strict-markers", MAIXMEM_FIRMWARE=image)
    assert "4 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "over budget: system heap: peak" in done.stdout
    assert "over budget: main.py:1: GC heap: live peak" in done.stdout
    assert "b = bytearray(50000)" in done.stdout
    assert "leak: folder/leak.py:3: GC heap: grows 544 bytes a round" in done.stdout
    assert "raises.py failed: " in done.stdout and "ValueError: mine" in done.stdout


@pytest.mark.parametrize("by_option", [True, False])
def test_an_image_that_is_none_is_a_failure(tmp_path: Path, by_option: bool) -> None:
    name = str(tmp_path / "x.elf")
    done = ran(
        tmp_path, *([f"--k210-firmware={name}"] if by_option else []), MAIXMEM_FIRMWARE=name
    )
    assert done.returncode == 1 and "skipped" not in done.stdout
    assert "no .bin or .kfpkg of MaixPy v1 there" in done.stdout


def test_without_an_image(tmp_path: Path) -> None:
    done = ran(tmp_path)
    assert done.returncode == 0 and "6 skipped" in done.stdout
    assert "NO FIRMWARE: give pytest --k210-firmware=IMAGE" in done.stdout
