# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The desk in the page says what the command says, to the letter; without a firmware, too."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from browser_page import PATIENCE, drop, finish, wait_state, write
from maixmem_cli.kmodel import example

_ADDRESS = re.compile(r"https://\S+/blob/HEAD/(?=docs/)")
_DUMP = "MemoryError: memory allocation failed, allocating 153600 bytes\n"
_TOO_MUCH = """
firmware = "full"
camera.size = "VGA"
model = [
    {name = "a", file = "a.kmodel", address = 0x300000, resident = true},
    {name = "b", file = "b.kmodel", address = 0x400000, resident = true},
]
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
    """What a command said, without the line that shows the command; its links are to files of the
    checkout, as the command's here are."""
    return _ADDRESS.sub("", finish(page, element).partition("\n")[2])


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
    command("init", "--bare", folder=tmp_path / "x")
    there = command("fit", "project.toml", folder=tmp_path / "x").stdout
    assert text == there and "FITS" in there
    assert page.input_value("#project") == (tmp_path / "x" / "project.toml").read_text()
    report = page.frame_locator("#plan-report")
    assert report.locator("svg").first.is_visible()


def test_fit_names_the_cures(page: Any, command: Callable[..., Any], tmp_path: Path) -> None:
    """What does not fit: the changes in words and in the report with its pictures."""
    drop(page, *models(tmp_path))
    page.wait_for_selector("input.place", timeout=PATIENCE)
    page.click("#tab-plan")
    page.fill("#project", _TOO_MUCH)
    page.click("#plan-go")
    (tmp_path / "project.toml").write_text(_TOO_MUCH)
    there = command("fit", "project.toml", folder=tmp_path).stdout
    assert words(page, "plan-said") == there and "\nDo this: " in there
    change = there.partition("\nDo this: ")[2].partition("\n")[0]
    report = page.frame_locator("#plan-report")
    assert change in report.locator("body").text_content()
    assert report.locator("svg").count() >= 1


def test_explain(page: Any, command: Callable[..., Any], tmp_path: Path) -> None:
    page.click("#tab-explain")
    page.fill("#text", _DUMP)
    page.click("#explain-go")
    (tmp_path / "log.txt").write_text(_DUMP)
    there = command("explain", "log.txt", folder=tmp_path).stdout
    assert words(page, "explain-said") == there and "Cause: the GC heap" in there


def test_a_chinese_reader_is_answered_in_chinese(
    page: Any, command: Callable[..., Any], tmp_path: Path
) -> None:
    """Chosen on an earlier visit: nothing is chosen on this one."""
    page.select_option("#language", "zh")
    page.reload()
    page.wait_for_selector("body[data-ready]")
    page.click("#tab-explain")
    page.fill("#text", _DUMP)
    page.click("#explain-go")
    (tmp_path / "log.txt").write_text(_DUMP)
    there = command("explain", "--lang", "zh", "log.txt", folder=tmp_path).stdout
    assert words(page, "explain-said") == there and "Cause:" not in there


_PROFILE = ("main.py", "--firmware", "image.bin", "--camera", "pattern", "--frames", "10")


def test_profile(page: Any, command: Callable[..., Any], firmware: Path, tmp_path: Path) -> None:
    """The words of the page, and the figures behind them, against the command's own run."""
    image = tmp_path / "image.bin"
    shutil.copy(firmware, image)
    drop(page, image)
    wait_state(page, "prompt")
    write(page, _SCRIPT)
    page.click("#tab-profile")
    page.fill("#frames", "10")
    page.click("#profile-go")
    text = words(page, "profile-said")
    (tmp_path / "main.py").write_text(_SCRIPT)
    there = command("profile", *_PROFILE, folder=tmp_path)
    assert text.replace("\r\n", "\n") == there.stderr + there.stdout
    assert "kept.append" in text
    assert page.frame_locator("#profile-report").locator("svg").first.is_visible()
    here = asked(page, ["profile", *_PROFILE, "--json"], image, tmp_path / "main.py")
    figures = json.loads(command("profile", *_PROFILE, "--json", folder=tmp_path).stdout)
    assert len(figures["lines"]) > 3
    assert json.loads(here) == figures


_ASK = """async ([words, files]) => {
    const { Desk } = await import('./page/desk.js');
    const desk = new Desk({ progress: () => {}, say: () => {} });
    for (const [name, letters] of files) {
        await desk.put(name, Uint8Array.from(atob(letters), (c) => c.charCodeAt(0)));
    }
    const { result } = await desk.call('command', [words, '']);
    desk.worker.terminate();
    return result.out;
}"""


def asked(page: Any, command_words: list[str], *files: Path) -> str:
    """What a command prints that has no button: the page's Python, another one."""
    sent = [[f.name, base64.b64encode(f.read_bytes()).decode()] for f in files]
    return page.evaluate(_ASK, [command_words, sent])
