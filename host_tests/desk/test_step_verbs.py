# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A step is an instruction: its English begins with a verb, which introduces a command too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from maixmem_cli.answer import tables
from maixmem_cli.errors import files

_FILES = ("ours", "desk", "maixpy", "python", "steps", "dump", "linux", "numbers")
_ANSWERS = ("findings", "remedies")
#: {file that is exempt: why}
_EXEMPT = {
    "micropython": "many are no sentences yet: they go onto boards, which have no room for more",
    "rknn": "the library's own errors have them behind 'Next: ', in small letters",
    "boards": 'none in it: find_out goes on behind "Try to find out: "',
    "words": "none in it",
}
_IN_C = "In C: "
_VERBS = frozenset(
    "Activate Add Align Allocate Append Avoid Begin Build Call Change Check Choose Close Compare"
    " Compile Connect Convert Copy Correct Count Create Cut Disconnect Do Draw Drop End Enlarge"
    " Erase Find Flash Format Free Freeze Get Give Ignore Import Install Keep Leave Let List Load"
    " Look Lower Make Mount Move Note Open Pass Print Put Raise Read Reboot Release Remove Replace"
    " Reserve Reset Resize Run Save Scan See Send Set Shrink Split Start Stream Swap Switch Take"
    " Train Try Turn Unplug Update Use Write".split()
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
        if key in ("steps", "check"):
            yield from map(files.english, value)
        elif isinstance(value, (dict, list)):
            yield from _listed(value)


def _first(step: str) -> str:
    """Its first word; behind the mark of a step for programs in C."""
    marked = step.startswith(_IN_C)
    return (step[len(_IN_C) :].capitalize() if marked else step).split()[0].rstrip(":,;")


@pytest.mark.parametrize("name", (*_FILES, *_ANSWERS))
def test_a_step_begins_with_a_verb(name: str) -> None:
    steps = _steps(name)
    assert steps
    wrong = [step for step in steps if _first(step) not in _VERBS]
    assert not wrong, wrong


def test_each_verb_begins_a_step() -> None:
    assert {_first(step) for name in (*_FILES, *_ANSWERS) for step in _steps(name)} == _VERBS


def test_no_file_is_left_out_without_a_reason() -> None:
    assert {*_FILES, *_EXEMPT} == {*files.ROWS, *files.OTHERS}
    assert not any(_steps(name) for name in ("boards", "words"))
