# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Every public name of the library says what it does, and the pages made from that can be made."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import paths
import pytest

MODULES = sorted(paths.LIB.glob("*.py"))
#: one line each, for the desk's layer listing


def public(nodes: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """The functions, classes and methods that users can name."""
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != "_":
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body)


def explained(node: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> bool:
    """True with a docstring, or with a comment in the line above."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return bool(ast.get_docstring(node)) or lines[first - 2].lstrip().startswith("#")


@pytest.mark.parametrize("module", MODULES, ids=lambda p: p.stem)
def test_every_public_name_is_explained(module: Path) -> None:
    source = module.read_text(encoding="utf-8")
    tree = ast.parse(source)
    assert ast.get_docstring(tree), "the module itself has no docstring"
    silent = {n.name for n in public(tree.body) if not explained(n, source.splitlines())}
    assert not silent, f"{module.name}: no docstring and no comment: {', '.join(sorted(silent))}"


def test_pages(tmp_path: Path) -> None:
    names = ("maixmem", "maixmem_pool", "maixmem_rknnmodel")
    command = [sys.executable, str(paths.TOOLS / "docs.py"), "--out", str(tmp_path), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr, done.stderr  # a stub that the pages cannot use
    pages = {name: (tmp_path / f"{name}.html").read_text(encoding="utf-8") for name in names}
    for text in (
        "class</span>",
        "high_water",
        "Equal buffers that are allocated once",
        "The pool owns them all",
    ):
        assert text in pages["maixmem_pool"], text
    assert "memoryview" in pages["maixmem_pool"]  # a type, which only the stub knows
