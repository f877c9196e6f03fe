# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The house: what the modules of the library may import, and what they may not do."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import maixmem_report
import maixmem_text
import paths
import pytest
import words
from source import imported

FLAT = sorted(paths.LIB.glob("*.py"))
#: what device code may import beside the library: modules of MicroPython, of MaixPy, and CPython's
#: names for them
DEVICE_MODULES = {
    *("gc", "sys", "time", "os", "struct", "ustruct", "array", "hashlib", "uhashlib"),
    *("_thread", "uctypes", "uos", "io", "uio", "micropython", "__main__", "builtins"),
    *("Maix", "KPU", "image", "sensor", "lcd", "machine", "maix"),
    *("umalloc", "ml", "media"),  # OpenMV's, K230's
}


@pytest.mark.parametrize("path", FLAT, ids=lambda p: p.stem)
def test_what_lies_flat_imports_what_a_board_has(path: Path) -> None:
    """Of CPython's modules only those that MicroPython has too; of a vendor's, in a port, the one
    of its row."""
    library = {p.stem for p in FLAT}
    tree = ast.parse(path.read_text("utf-8"))
    used = {m.split(".")[0] for m in imported(tree)}
    rows = [row.split(":") for row in maixmem_report.PORTS.split()]
    own = {probe.split("/")[0] for _, probe, port in rows if path.stem == f"maixmem_{port}"}
    unknown = used - library - DEVICE_MODULES - own
    assert not unknown, unknown


def one_time_parts() -> set[str]:
    """The modules that run_once() names in lib/."""
    calls = (
        node.args[0].value
        for path in FLAT
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "run_once"
        if isinstance(node.args[0], ast.Constant)
    )
    return {f"maixmem_{name}" for name in calls}


@pytest.mark.parametrize("path", FLAT, ids=lambda p: p.stem)
def test_no_function_imports_a_one_time_part(path: Path) -> None:
    """It would stay in memory: run_once() drops what a part imports at its head."""
    parts = one_time_parts()
    assert len(parts) > 15 and "maixmem_k210_cost" in parts
    late = [
        node.module
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom)
    ]
    assert not parts & set(late)


@pytest.mark.parametrize("path", FLAT, ids=lambda p: p.stem)
def test_each_sentence_that_is_named_exists(path: Path) -> None:
    """message() takes a sentence itself as well, so a wrong name would be printed."""
    named = [
        node.args[0].value
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "message"
        if isinstance(node.args[0], ast.Constant)
    ]
    assert set(named) <= set(maixmem_text._SENTENCES)


@pytest.mark.parametrize("path", FLAT, ids=lambda p: p.stem)
def test_nothing_leaves_a_try_that_has_a_finally(path: Path) -> None:
    """MicroPython v1.11 counts the stack of such a return too small: a loop in the finally
    overwrites a local."""
    left = [
        inner.lineno
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Try) and node.finalbody
        for part in [*node.body, *node.handlers, *node.orelse]
        for inner in ast.walk(part)
        if isinstance(inner, (ast.Return, ast.Break, ast.Continue))
    ]
    assert left == [], f"{path.name}: lines {left}"


def test_the_manual_shows_the_rooms_as_they_are() -> None:
    """The table in architecture.md against the contract that import-linter keeps."""
    if sys.version_info < (3, 11):
        pytest.skip("NO tomllib: the rooms of the manual were not compared")
    import tomllib

    text = (paths.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = [
        set(re.findall(r"`(\w+)`:", row))
        for row in re.findall(r"^\| \d+ \| (.*) \|$", text, re.MULTILINE)
    ]
    settings = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["type"] == "layers")
    kept = [{name.split(".")[-1] for name in row.split(" | ")} for row in layers]
    rooms = {p.parent.name for p in (paths.TOOLS / "maixmem_cli").glob("*/__init__.py")}
    assert shown == [row & rooms for row in kept if row & rooms]
    assert set().union(*shown) == rooms


def test_no_word_has_a_private_sense() -> None:
    """CONTRIBUTING lists the words to avoid, with what to write; none is left."""
    page = (paths.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.split("\n## Words\n")[1].split("\n## ")[0]
    listed = {
        w for row in re.findall(r"^\|(.*?)\|", table, re.M) for w in re.findall("`(.*?)`", row)
    }
    assert listed == {"let go", *words.PRIVATE, "go"}
    found = [f"{p.where}: {p.word}: {p.text}" for p in words.places()]
    assert not found, "\n".join(found)


def test_a_private_sense_would_be_found(tmp_path: Path) -> None:
    for name in ("README.md", "CONTRIBUTING.md", "docs/a.md", "lib/maixmem_text.py", "tools/a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "README.md").write_text(
        "`is there` is code.\n    it was said\nWhat is there comes through.\n"
    )
    (tmp_path / "docs" / "a.md").write_text(
        "A look tells more than it takes of the heap, says who asked.\n"
    )
    (tmp_path / "lib" / "maixmem_text.py").write_text('"""x"""\nT = {"a": "{} stands below"}\n')
    (tmp_path / "tools" / "a.py").write_text('def f():\n    """It was told."""\n')
    found = [(p.kind, p.word) for p in words.places(tmp_path)]
    assert found == [
        *[("README", "there"), ("README", "come through")],
        *[("manual", "asked"), ("manual", "takes"), ("manual", "look")],
        *[("docstrings", "told"), ("messages", "stands")],
    ]
