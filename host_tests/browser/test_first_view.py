# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the page opens with, and files that are dropped in any order with Run pressed at once."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from browser_page import PATIENCE, drop, opened, said, wait_said
from maixmem_cli.kmodel import example

_SCRIPT = """
import KPU as kpu
first = kpu.load(0x600000)
second = kpu.load(0x400000)
print('both are', 'loaded')
"""
_ENDED = "() => (document.getElementById('recorded').dataset.state ?? '').endsWith('ended')"


def shot(page: Any, name: str) -> None:
    """A picture to look at, into the folder that $MAIXMEM_PICTURES names."""
    folder = os.environ.get("MAIXMEM_PICTURES")
    if folder:
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.mark.quick
def test_an_example_has_run_without_any_file(context: Any, site: str) -> None:
    page = opened(context, site)
    page.wait_for_function(_ENDED, timeout=PATIENCE)
    shown = page.evaluate("performance.now()")
    print(f"\nits answer is there {shown:.0f} ms after the page was asked for")
    assert page.is_visible("#recorded-answer .step") and page.is_visible("#recorded-try")
    assert "kpu.load(0x600000)" in page.text_content("#recorded-answer .cause")
    assert page.text_content("#recorded-script mark.bad").strip().endswith("kpu.load(0x600000)")
    assert not page.is_visible("#recorded-answer .diff") and page.is_disabled("#run")
    assert not page.is_visible("#console") and not page.is_visible("#display")
    for width in (1100, 400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        shot(page, f"first-{width}")
    page.click("#recorded-change")
    assert "+kpu.deinit(classes)" in page.text_content("#recorded-answer .diff")
    assert page.is_visible("#recorded-answer .diff")
    page.click("#recorded-try")
    page.wait_for_selector("#recorded[data-state='runs ended']", timeout=PATIENCE)
    assert "faces is loaded" in page.text_content("#recorded-console")


def _orders(files: list[Path]) -> list[tuple[Path, ...]]:
    """Ten of the orders in which four files can be dropped."""
    return list(itertools.permutations(files))[::2][:10]


@pytest.mark.parametrize("browser", ["chromium"], indirect=True)
def test_run_waits_for_what_was_dropped(
    context: Any, site: str, firmware: Path, tmp_path: Path
) -> None:
    """One after the other, in ten orders, and Run at once: each model is where the script loads
    it."""
    script = tmp_path / "main.py"
    script.write_text(_SCRIPT)
    models = [tmp_path / "second.kmodel", tmp_path / "first.kmodel"]
    for path in models:
        path.write_bytes(example.data(100 << 10))
    wrong = []
    for order in _orders([firmware, *models, script]):
        page = opened(context, site)
        for path in order:
            drop(page, path)
        page.wait_for_selector("#run:enabled", timeout=PATIENCE)
        page.click("#run")
        wait_said(page, "\n>>> \r\n\x1b[2m")
        page.wait_for_selector("#state[data-state=prompt]", timeout=PATIENCE)
        if "both are loaded" not in said(page):
            wrong.append(([p.name for p in order], said(page)[-300:]))
        page.close()
    assert wrong == []
