# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The page's board as tests use it: what a user drops, types, presses and reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PATIENCE = 120_000  # ms: for a machine that has other things to do


def opened(context: Any, address: str) -> Any:
    """A tab with the page."""
    tab = context.new_page()
    tab.goto(address)
    tab.wait_for_selector("body[data-ready]")
    return tab


def drop(page: Any, *files: Path) -> None:
    page.set_input_files("#choose", [str(f) for f in files])


def wait_state(page: Any, state: str) -> None:
    page.wait_for_selector(f"#state[data-state={state}]", timeout=PATIENCE)


def learned(page: Any) -> None:
    """Python is there and knows the firmware."""
    page.wait_for_selector("#state[data-learned]", timeout=PATIENCE)


def said(page: Any) -> str:
    """All that the serial console showed."""
    return page.evaluate("document.getElementById('console').text()")


def wait_said(page: Any, text: str) -> None:
    page.wait_for_function(
        "text => document.getElementById('console').text().includes(text)",
        arg=text,
        timeout=PATIENCE,
    )


def write(page: Any, script: str) -> None:
    page.fill("#code", script)


def run(page: Any, script: str) -> None:
    write(page, script)
    page.click("#run")


def told(page: Any, word: str) -> str:
    """What stands beside the script when this word is in it."""
    page.wait_for_function(
        "word => document.getElementById('told').textContent.includes(word)",
        arg=word,
        timeout=PATIENCE,
    )
    return page.text_content("#told")


def answered(page: Any, word: str) -> str:
    """The answer to how the script ended, when this word is in it."""
    page.wait_for_function(
        "word => document.getElementById('answer-text').textContent.includes(word)",
        arg=word,
        timeout=PATIENCE,
    )
    return page.text_content("#answer-text")


def tried(page: Any) -> str:
    """What the search for a change that runs ended with, a state of cure.js."""
    ended = "#answer:not([data-cure=tries])"
    page.wait_for_selector(ended, timeout=5 * PATIENCE)
    return page.get_attribute("#answer", "data-cure")


def finish(page: Any, element: str) -> str:
    """The words of a command of the desk, when it has ended."""
    page.wait_for_selector(f"#{element}[data-state=done]", timeout=PATIENCE)
    return page.text_content(f"#{element}")
