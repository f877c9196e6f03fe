# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The desk in the page says what the command says, to the letter; without a firmware, too."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from browser_page import PATIENCE, drop, finish, wait_state, write
from maixmem_cli.kmodel import example

_DUMP = "MemoryError: memory allocation failed, allocating 153600 bytes\n"
_PROJECT = """
[board]
firmware = "full"
[[model]]
name = "a"
file = "a.kmodel"
"""
_SCRIPT = """
import sensor
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
kept = []
while True:
    img = sensor.snapshot()
    kept.append(bytearray(1000))
"""


def models(folder: Path) -> list[Path]:
    """Two of our own."""
    made = [folder / "a.kmodel", folder / "b.kmodel"]
    for path, size in zip(made, (400 << 10, 300 << 10)):
        path.write_bytes(example.data(size))
    return made


def words(page: Any, element: str) -> str:
    """What a command said, without the line that shows the command."""
    return finish(page, element).partition("\n")[2]


def test_kmodel_and_flash(page: Any, command: Callable[..., Any], tmp_path: Path) -> None:
    drop(page, *models(tmp_path))
    page.wait_for_selector("input.place", timeout=PATIENCE)
    page.click("#tab-models")
    page.click("#kmodel-go")
    there = command("kmodel", "a.kmodel", "b.kmodel", folder=tmp_path).stdout
    assert words(page, "models-said") == there and "V3, 1 layers" in there
    page.eval_on_selector("#models-said", "e => delete e.dataset.state")
    page.click("#flash-go")
    there = command("flash", "a.kmodel@0x300000", "b.kmodel@0x400000", folder=tmp_path).stdout
    assert words(page, "models-said") == there and "no conflict" in there


def test_a_collision_is_said_before_anything_runs(page: Any, tmp_path: Path) -> None:
    drop(page, *models(tmp_path))
    page.wait_for_selector("input.place", timeout=PATIENCE)
    for n, address in enumerate(("0x300000", "0x310000")):
        page.fill(f"input.place >> nth={n}", address)
        page.press(f"input.place >> nth={n}", "Tab")
        page.wait_for_timeout(500)
    page.wait_for_selector(".finding", timeout=PATIENCE)
    text = page.text_content("#findings")
    assert "a.kmodel" in text and "b.kmodel" in text and "overlap" in text.lower()


def test_fit(page: Any, command: Callable[..., Any], tmp_path: Path) -> None:
    page.click("#tab-plan")
    page.click("#plan-go")
    text = words(page, "plan-said")
    (tmp_path / "x").mkdir()
    command("fit", "--init", "project.toml", folder=tmp_path / "x")
    there = command("fit", "project.toml", folder=tmp_path / "x").stdout
    assert text == there and "FITS" in there
    assert page.input_value("#project") == (tmp_path / "x" / "project.toml").read_text()
    report = page.frame_locator("#plan-report")
    assert report.locator("svg").first.is_visible()


def test_explain(page: Any, command: Callable[..., Any], tmp_path: Path) -> None:
    page.click("#tab-explain")
    page.fill("#text", _DUMP)
    page.click("#explain-go")
    (tmp_path / "log.txt").write_text(_DUMP)
    there = command("explain", "log.txt", folder=tmp_path).stdout
    assert words(page, "explain-said") == there and "= the GC heap" in there


def test_profile(page: Any, command: Callable[..., Any], firmware: Path, tmp_path: Path) -> None:
    """The table of the page against the command's own, for the same run."""
    drop(page, firmware)
    wait_state(page, "prompt")
    write(page, _SCRIPT)
    page.click("#tab-profile")
    page.fill("#frames", "10")
    page.click("#profile-go")
    text = words(page, "profile-said")
    shutil.copy(firmware, tmp_path)
    (tmp_path / "main.py").write_text(_SCRIPT)
    options = ("main.py", "--firmware", firmware.name, "--camera", "pattern", "--frames", 10)
    there = command("profile", *options, folder=tmp_path).stdout
    assert table(text) == table(there) and "kept.append" in there
    found = json.loads(command("profile", *options, "--json", folder=tmp_path).stdout)
    assert len(found["lines"]) > 3
    assert page.frame_locator("#profile-report").locator("svg").first.is_visible()


def table(text: str) -> list[str]:
    """The rows of lines; what grows a round is told from samples, which no two runs share."""
    rows = [line for line in text.splitlines() if "main.py:" in line]
    return [row for row in rows if not row.startswith("leaks ")]
