# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Each number of the chip, its allocator and MaixPy is written down once in the whole tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import paths
import pytest
from source import number

#: (where it stands, its value, whether nothing else can have that value: then it stands nowhere,
#: else under no name)
CHIP, MODEL = "maixmem_k210_chip", "k210_model"
ONCE = [
    (f"{CHIP}.FLASH_SIZE", 16 << 20, True),
    (f"{CHIP}.SPIFFS_START", 0xD00000, True),
    (f"{CHIP}.SPIFFS_SIZE", 0x300000, False),
    (f"{CHIP}.GC_BLOCK", 1036, True),
    (f"{CHIP}.RAM", 6 << 20, False),
    (f"{CHIP}.IMAGE_OVERHEAD", 37, False),
    (f"{CHIP}.TRIM", 131072, False),
    (f"{CHIP}.SPI_EXTRA", 130, False),
    (f"{CHIP}.EDGE", 160, False),
    (f"{MODEL}.heap.RAM_START", 0x80000000, True),
    (f"{MODEL}.builds.GC_DEFAULT", 512 << 10, False),
    (f"{MODEL}.builds.LCD_GC", 15488, True),
    (f"{MODEL}.builds.SCRIPT_IDLE", 5056, True),
]
#: what else has such a value and is no copy
OTHER = {
    "maixmem_flash_check.MODEL_BASE",  # where models begin: as far as SPIFFS is long
    "k210_model.builds.GC_FALLBACK",  # as much as TRIM
    "chip.k210_kmodel.MAX_SIZE",  # of a model
    "maixmem_flash_scan.const",  # a block of SPIFFS
    "errors.log.LIMIT",  # of a text
    "errors.numbers._MEDIA",  # the first byte of a K230 media error
    "runs.run_standin.INTERRUPTED",  # an exit status
    "sim.k210_sim._INTERRUPTED",
}
FILES = [
    path
    for folder in (paths.LIB, *paths.SHIM_PATH[:3], paths.MODEL, paths.SHIMS / "canmv")
    for path in sorted(folder.glob("*.py"))
] + sorted(paths.TOOLS.rglob("*.py"))


def where(path: Path) -> str:
    return (
        path.stem if path.parent in (paths.LIB, paths.TOOLS) else f"{path.parent.name}.{path.stem}"
    )


@lru_cache(maxsize=None)
def numbers() -> list[tuple[str, str, int]]:
    """(file, name that it is given or "", value) of every number of our code."""
    return [(where(path), *one) for path in FILES for one in _numbers(path)]


def _numbers(path: Path) -> Iterator[tuple[str, int]]:
    tree = ast.parse(path.read_text("utf-8"))
    names: dict[ast.AST | None, str] = {}
    hot: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            names[node.value] = getattr(target, "id", "")
            if isinstance(node.value, ast.Call) and names[node.value].startswith("_"):
                hot |= {node.value, *node.value.args}  # _NAME = const(n)
    for node in ast.walk(tree):
        value = number(node) if isinstance(node, ast.expr) else None
        if value is not None:
            yield "const" if node in hot else names.get(node, ""), value


@pytest.mark.parametrize(("place", "value", "alone"), ONCE, ids=str)
def test_it_stands_once(place: str, value: int, alone: bool) -> None:
    found = {f"{file}.{name}" for file, name, n in numbers() if n == value and (alone or name)}
    if not place.startswith(CHIP):  # that a board has not always: _NAME = const(n) instead
        found = {one for one in found if not one.endswith(".const")}
    assert found - OTHER == {place}


def test_the_first_word_of_a_v4_model_stands_once_in_the_library() -> None:
    library = {p.stem for p in FILES if p.parent == paths.LIB}
    assert [f for f, _, n in numbers() if n == 0x4B4D444C and f in library] == ["maixmem_kmodel"]


def test_const_and_rounding_are_defined_once() -> None:
    defined = []
    for path in (p for p in FILES if p.parent == paths.LIB):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name in ("const", "round_up", "_up"):
                defined.append(f"{path.stem}.{node.name}")
            if isinstance(node, ast.Assign):
                names = {getattr(t, "id", "") for t in node.targets}
                defined += [f"{path.stem}.const"] * ("const" in names)
    assert [d for d in defined if d.endswith("const")] == ["maixmem.const"]
    assert len(defined) == len(set(defined)), defined
