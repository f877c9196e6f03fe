# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is sent to a board for a question."""

from __future__ import annotations

import ast
import types

import paths
import pytest
from maixmem_cli.serial import question

FILES = sorted(
    p.stem for p in (paths.TOOLS / "maixmem_cli/serial/on_board").glob("*.py") if p.stem[0] != "_"
)


def defined(pieces: list[str]) -> dict[str, object]:
    """What a board has after these, without the modules that they import."""
    there: dict[str, object] = {}
    for code in pieces:
        exec(code, there)
    del there["__builtins__"]
    return {n: x for n, x in there.items() if not isinstance(x, types.ModuleType)}


@pytest.mark.parametrize("file", [f for f in FILES if f not in ("files", "watch")])
def test_the_names_are_all_that_is_defined(file: str) -> None:
    """files.py takes a function out of a module, watch.py wants the library of a board."""
    pieces, names = question.source(file)
    assert sorted(set(names.split(", "))) == sorted(defined(pieces))


def test_the_librarys_own_code_goes_along() -> None:
    pieces, _ = question.source("damage", "damaged")
    there = defined(pieces)
    assert {"Heap", "find", "Damaged", "damage", "chunks", "gc_chunk"} <= there.keys()
    assert not {"check_fit", "plan", "trim"} & there.keys()
    assert there["damaged"]() == []  # type: ignore[operator]  # CPython has no uctypes
    code = "\n".join(pieces)
    assert "maixmem" not in code and '"""' not in code and "#" not in code
    assert not any(f"{name} " in code for name in ("_HEAD", "SIZE", "_LISTS"))


def test_a_long_question_is_sent_in_pieces_that_stand_alone() -> None:
    """A board keeps the text of one in a single block of its GC heap."""
    pieces, _ = question.source("damage", "damaged")
    assert len(pieces) > 2
    for code in pieces:
        assert len(code) < 1500 or len(ast.parse(code).body) == 1
    assert len(question.source("who", "who")[0]) == 1
