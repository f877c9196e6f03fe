# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A step is an instruction: its English begins with a verb, which introduces a command too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from maixmem_cli.answer import tables
from maixmem_cli.errors import files

#: many steps of micropython are no sentences yet: they go onto boards, which have no room for more
_FILES = ("ours", "desk", "maixpy", "python", "steps", "dump", "linux", "numbers")
_ANSWERS = ("findings", "remedies")
_VERBS = frozenset(
    "Add Allocate Avoid Begin Build Call Change Check Choose Close Compare Compile Connect Convert"
    " Copy Correct Count Cut Disconnect Do Drop End Enlarge Erase Find Flash Format Free Freeze"
    " Get Give Hold Ignore Import Install Keep Leave Let Load Lower Make Move Note Pass Print Put"
    " Read Reboot Remove Replace Reserve Reset Resize Run Save Seat See Send Set Shrink Split"
    " Start Stop Stream Swap Switch Take Try Turn Unplug Update Use Wait Write".split()
)


def _steps(name: str) -> list[str]:
    """The English of the steps in a file, those for the board and those for the desk."""
    if name == "findings":
        return [t for row in tables.findings().values() for s in row["steps"] for t in s["en"]]
    if name == "remedies":
        return [text for remedy in tables.remedies().values() for text in remedy.row["en"]]
    table = files.read(name)
    if name == "steps":
        return [step[at] for step in table.values() for at in ("text", "desk") if at in step]
    return [step for step in _listed(table) if step not in files.read("steps")]


def _listed(table: Any) -> Iterator[str]:
    for key, value in table.items() if isinstance(table, dict) else enumerate(table):
        if key == "steps":
            yield from map(files.english, value)
        elif isinstance(value, (dict, list)):
            yield from _listed(value)


def _first(step: str) -> str:
    """Its first word."""
    return step.split(maxsplit=1)[0].rstrip(":,;")


@pytest.mark.parametrize("name", (*_FILES, *_ANSWERS))
def test_a_step_begins_with_a_verb(name: str) -> None:
    steps = _steps(name)
    assert steps
    wrong = [step for step in steps if _first(step) not in _VERBS]
    assert not wrong, wrong


@pytest.mark.parametrize("text", ["A smaller picture.", "The newest release.", "free -m: swap"])
def test_a_fragment_has_no_verb(text: str) -> None:
    assert _first(text) not in _VERBS
