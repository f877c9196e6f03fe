# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The contract of a port: the class, its page in the manual, and the port that does not inherit
it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import maixmem_port
import paths
import port_page
import pytest

#: where the K210's port has its methods, each row over the one before
_K210 = ("maixmem_k210", "maixmem_k210_kpu", "maixmem_k210_lazy")
#: a class there, what only a port with an arena is asked, and a function of the firmware
_NOT_K210 = {"Net", "overlap", "unload"}


def methods(path: Path) -> dict[str, ast.FunctionDef]:
    """The methods of the class Port, and functions that take `self`."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        inside = node.body if isinstance(node, ast.ClassDef) and node.name == "Port" else [node]
        for f in inside:
            if isinstance(f, ast.FunctionDef) and [a.arg for a in f.args.args[:1]] == ["self"]:
                found[f.name] = f
    return found


CONTRACT = {n: f for n, f in methods(port_page.SOURCE).items() if n[0] != "_"}


def taken(f: ast.FunctionDef) -> list[str]:
    """The names of what a method takes, as a caller can write them."""
    more = [f"**{f.args.kwarg.arg}"] if f.args.kwarg else []
    return [a.arg for a in f.args.args] + more


def test_the_page_is_made_from_the_docstrings() -> None:
    text = port_page.PAGE.read_text(encoding="utf-8")
    assert port_page.page(text) == text, "docs/ports.md is old. Next: python tools/port_page.py"


def test_the_page_names_each_method_with_types() -> None:
    text = port_page.PAGE.read_text(encoding="utf-8")
    for name, f in CONTRACT.items():
        assert f"### {name}\n" in text
        for argument in f.args.args[1:]:
            assert f"{argument.arg}: " in text


@pytest.mark.parametrize("name", sorted(CONTRACT))
def test_each_method_says_what_it_does(name: str) -> None:
    assert len(ast.get_docstring(CONTRACT[name]) or "") > 30


def test_the_k210_answers_the_same_calls() -> None:
    """Its port does without the base class, to save 2 KiB of its heap."""
    its: dict[str, ast.FunctionDef] = {}
    for module in _K210:
        its.update(methods(paths.LIB / f"{module}.py"))
    assert {n: taken(f) for n, f in its.items() if n in CONTRACT} == {
        n: taken(f) for n, f in CONTRACT.items() if n not in _NOT_K210
    }
    source = (paths.LIB / "maixmem_k210_kpu.py").read_text(encoding="utf-8")
    assert "    unload = staticmethod(kpu.deinit)" in source  # which takes a handle


def test_what_a_platform_cannot_do_is_not_implemented() -> None:
    port = maixmem_port.Port()
    for name, f in CONTRACT.items():
        if isinstance(f.body[-1], ast.Raise):
            with pytest.raises(NotImplementedError, match="unknown: this platform cannot"):
                getattr(port, name)(*[None] * (len(f.args.args) - 1))


def test_what_only_some_ports_have_is_on_the_page_too() -> None:
    """Each name that threads and advice read from a port where it has it, and held_by()."""
    readers = (paths.LIB / "maixmem_linux" / "threads.py", paths.LIB / "maixmem_advice.py")
    source = "\n".join(path.read_text("utf-8") for path in readers)
    read = set(re.findall(r'(?:getattr|hasattr)\((?:p|port), "(\w+)"', source)) | {"held_by"}
    besides = {name for name in read if not hasattr(maixmem_port.Port, name)}
    assert {"uninterrupted", "check_may_wait", "growth", "advise"} < besides
    page = port_page.PAGE.read_text(encoding="utf-8")
    table = page.split("## What some ports have besides")[1]
    assert besides == set(re.findall(r"^\| `(\w+)", table, re.M))


def test_the_page_names_what_an_author_needs() -> None:
    """Where a port is found and what checks it: the names are those of the repository."""
    page = port_page.PAGE.read_text(encoding="utf-8")
    own = page.split("## A port for a new board")[1].split("\n## ")[0]
    for path in re.findall(r"`((?:host_tests|port_shims|lib)/[\w/]+\.py)`", own):
        assert "NAME" in path or (paths.ROOT / path).is_file(), path
    assert "`host_tests/kits/manager_kit.py`" in own and "`PORTS`" in own
