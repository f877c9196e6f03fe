# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The board in the page: to its prompt, typed to, scripts, camera, heaps, a hang with its line."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import paths
import pytest
from browser_page import PATIENCE, answered, drop, learned, run, said, tried, wait_said, wait_state

_NEVER = """
import gc
blocks = []
def more(n):
    return bytearray(n)
while True:
    blocks.append(more(4000))
"""

_HOLDS = """
import sensor, time
sensor.reset()
sensor.set_framesize(sensor.QVGA)
sensor.set_pixformat(sensor.RGB565)
print('holds')
while True:
    time.sleep_ms(50)
"""
_FRAMES = 200  # of the thousand that the example takes


def choose(page: Any, name: str) -> None:
    page.select_option("#scripts", name)
    text = (paths.EXAMPLES / name).read_text()
    page.wait_for_function("text => document.getElementById('code').value === text", arg=text)


def test_a_dropped_firmware_comes_to_its_prompt_and_is_typed_to(page: Any, firmware: Path) -> None:
    start = time.monotonic()
    drop(page, firmware)
    wait_state(page, "prompt")
    print(f"\nto the prompt: {time.monotonic() - start:.1f} s")
    page.click("#console")
    page.keyboard.type("print(6*7, 'typed')\r")
    wait_said(page, "42 typed")


def test_camera_to_display(page: Any, firmware: Path) -> None:
    drop(page, firmware)
    wait_state(page, "prompt")
    learned(page)
    choose(page, "page/camera.py")
    page.click("#run")
    drawn = "document.getElementById('display').dataset.pictures"
    page.wait_for_function(f"() => {drawn} > 10", timeout=PATIENCE)
    first, start = int(page.evaluate(drawn)), time.monotonic()
    page.wait_for_function(f"() => {drawn} > {first + 60}", timeout=PATIENCE)
    pace = 60 / (time.monotonic() - start)
    print(f"\n{pace:.1f} pictures/s drawn; {page.text_content('#pace')}")
    page.click("#stop")
    wait_state(page, "prompt")
    assert "KeyboardInterrupt" in said(page)


def test_an_error_of_a_script_says_what_to_do(page: Any, firmware: Path) -> None:
    drop(page, firmware)
    wait_state(page, "prompt")
    learned(page)
    run(page, _NEVER)
    text = answered(page, "GC heap")
    assert "main.py:5 `return bytearray(n)` requests 3.9 KiB of GC heap" in text
    assert tried(page) in ("found", "said")
    assert page.is_visible("#answer-text .step")
    assert page.text_content("#lines b") == "5\n"  # the innermost


def picture(page: Any) -> None:
    """The picture of the manual, where $MAIXMEM_PICTURE says."""
    if os.environ.get("MAIXMEM_PICTURE"):
        page.set_viewport_size({"width": 1100, "height": 1120})
        page.wait_for_timeout(3000)
        page.screenshot(path=os.environ["MAIXMEM_PICTURE"])


def test_two_models_hang_with_their_line_and_run_with_the_library(
    page: Any, firmware: Path
) -> None:
    start = time.monotonic()
    drop(page, firmware)
    wait_state(page, "prompt")
    learned(page)
    page.click("#example")
    page.wait_for_selector("#list tbody tr:nth-child(3)", timeout=60_000)
    places = page.eval_on_selector_all("input.place", "all => all.map(e => e.value)")
    assert places == ["0x300000", "0x600000"]
    choose(page, "page/two_models.py")
    wait_state(page, "prompt")
    page.click("#run")
    text = answered(page, "faces.kmodel")
    line = next(
        i
        for i, s in enumerate((paths.EXAMPLES / "page/two_models.py").read_text().splitlines(), 1)
        if "0x600000" in s
    )
    assert f"main.py:{line} `faces = kpu.load(0x600000)`" in text
    more = page.text_content("#answer-more")
    assert f"at main.py:{line}: " in more and "malloc(" in more and "heap_free() = " in more
    assert page.text_content("#lines b") == f"{line}\n"
    print(f"\nfrom the opened page to the named line: {time.monotonic() - start:.0f} s")
    choose(page, "page/two_models_maixmem.py")
    page.click("#run")  # while changes of the other script are tried
    wait_said(page, "3 switches; state: loaded")
    assert not page.is_visible("#answer")
    wait_state(page, "prompt")
    assert "Traceback" not in said(page).rpartition("main.py runs")[2]


def test_a_change_that_runs_is_found_and_taken(page: Any, firmware: Path) -> None:
    """As `maixmem cure` finds it: the diff in the answer, then the script with it in the editor,
    which runs on the page's board."""
    drop(page, firmware)
    wait_state(page, "prompt")
    learned(page)
    page.click("#example")
    page.wait_for_selector("#list tbody tr:nth-child(3)", timeout=60_000)
    choose(page, "page/two_models.py")
    wait_state(page, "prompt")
    page.click("#run")
    answered(page, "faces.kmodel")
    start = time.monotonic()
    assert not page.is_visible("#answer-text .step")  # none that nobody tried
    assert tried(page) == "found"
    print(f"\nto a change that runs: {time.monotonic() - start:.0f} s")
    diff = page.text_content("#answer-text .diff")
    added = [line[1:] for line in diff.splitlines() if line[:1] == "+" and line[:3] != "+++"]
    assert added and page.text_content("#answer-text .proof")
    picture(page)
    before = page.input_value("#code")
    page.click("#cure-take")
    after = page.input_value("#code")
    assert after != before and all(line in after.splitlines() for line in added)
    page.click("#run")
    wait_said(page, "faces is loaded")
    wait_state(page, "prompt")


def test_switch_models_runs(page: Any, firmware: Path) -> None:
    drop(page, firmware)
    wait_state(page, "prompt")
    learned(page)
    page.click("#example")
    page.wait_for_selector("#list tbody tr:nth-child(3)", timeout=60_000)
    choose(page, "switch_models.py")
    wait_state(page, "prompt")
    page.click("#run")
    wait_said(page, "B freed")
    wait_state(page, "prompt")
    text = said(page).rpartition("what it took")[2]
    assert "lowest" in text and "Traceback" not in text


def test_the_pool_runs(page: Any, firmware: Path) -> None:
    drop(page, firmware)
    wait_state(page, "prompt")
    learned(page)
    choose(page, "camera_pool.py")
    text = page.input_value("#code")
    run(page, text.replace("FRAMES = 1000", f"FRAMES = {_FRAMES}"))
    wait_said(page, f"frames: pooled {_FRAMES}, plain ")
    wait_state(page, "prompt")
    assert f"pooled: {_FRAMES} frames, at most 6 cut-outs" in said(page)


def test_the_map_names_the_line_of_a_chunk(page: Any, firmware: Path) -> None:
    """Under the pointer and by arrow keys, while the script runs."""
    drop(page, firmware)
    wait_state(page, "prompt")
    learned(page)
    run(page, _HOLDS)
    wait_said(page, "holds")
    drawn = "Number(document.getElementById('system-heap').dataset.drawn)"
    page.wait_for_function(f"n => {drawn} > n + 1", arg=page.evaluate(drawn), timeout=PATIENCE)
    page.hover("#system-heap")
    page.wait_for_selector("#system-heap:not([data-owners='0'])", timeout=PATIENCE)
    box = page.locator("#system-heap").bounding_box()
    pointed = set()
    for x in range(2, int(box["width"]), 3):
        page.mouse.move(box["x"] + x, box["y"] + 20)
        pointed.add(page.text_content("#owner"))
    assert any("main.py:4: sensor.set_framesize(sensor.QVGA)" in text for text in pointed), pointed
    assert any("the GC heap" in text for text in pointed)
    page.focus("#system-heap")
    reached = []
    for _ in range(400):
        page.keyboard.press("ArrowRight")
        reached.append(page.text_content("#owner"))
    assert any("main.py:4: " in text for text in reached), reached[-5:]


def test_files_go_to_flash_and_to_a_card(page: Any, firmware: Path, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def answer():\n    return 6 * 7\n")
    drop(page, firmware, tmp_path / "helper.py")
    wait_state(page, "prompt")
    run(page, "import helper\nprint('helper', helper.answer())")
    wait_said(page, "helper 42")
    (tmp_path / "data.csv").write_text("1,2,3")
    drop(page, tmp_path / "data.csv")
    page.wait_for_selector("#state[data-state=starting]")
    wait_state(page, "prompt")
    run(page, "import helper\nprint(helper.answer(), open('/sd/data.csv').read())")
    wait_said(page, "42 1,2,3")


@pytest.mark.parametrize("browser", ["chromium"], indirect=True)  # others have no such order
def test_a_closed_lid(page: Any, firmware: Path) -> None:
    """A frozen page goes on where it was."""
    drop(page, firmware)
    wait_state(page, "prompt")
    page.fill("#code", "print('draft')")
    devtools = page.context.new_cdp_session(page)
    devtools.send("Page.setWebLifecycleState", {"state": "frozen"})
    time.sleep(3)
    devtools.send("Page.setWebLifecycleState", {"state": "active"})
    page.click("#console")
    page.keyboard.type("print('awake', 6*7)\r")
    wait_said(page, "awake 42")
    assert page.input_value("#code") == "print('draft')"
