# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The device tests: the files, their tests and their needs, read without importing them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maixmem_cli.library import modules, places

#: GC heap on the MicroPython of 2019, where a file does not set its own: a collection, and
#: each question how much is free, costs 2 to 6 ms for each MiB of it
HEAP = "1m"
#: what a test of any board may import beside the library for it
_OURS = ("devtest", "esp32", "gc", "js", "micropython", "sys", "uctypes")


@dataclass(frozen=True)
class Suite:
    """One device test file."""

    path: Path
    tests: tuple[str, ...]
    needs: tuple[str, ...]
    heap: str = HEAP
    imports: frozenset[str] = frozenset()

    @property
    def module(self) -> str:
        return self.path.stem

    def runs_on(self, name: str) -> bool:
        """True when the file is not limited to other interpreters, and does not leave it out."""
        limits = [n for n in self.needs if n != "shim" and n[:4] != "not "]
        return f"not {name}" not in self.needs and (not limits or name in limits)

    @property
    def portable(self) -> bool:
        """True when it has nothing to do with the K210: a board without a port can run it."""
        return not self.needs and self.imports <= {*_OURS, *modules.modules("generic")}

    def main(self) -> str:
        """The script that runs the file's tests on an interpreter or a board: a paragraph each,
        for one that collects garbage only between them."""
        tests = [f"devtest.run({self.module}, [{test!r}])" for test in self.tests]
        return "\n\n".join([f"import devtest\nimport {self.module}", *tests]) + "\n"


def suites() -> list[Suite]:
    """Every test_*.py of places.device_tests(), in order of name."""
    return [_read(p) for p in sorted(places.device_tests().glob("test_*.py"))]


def _read(path: Path) -> Suite:
    tests: list[str] = []
    settings: dict[str, Any] = {"NEEDS": (), "HEAP": HEAP}
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for part in ast.walk(tree):
        if isinstance(part, ast.ImportFrom):
            found.add(part.module or "")
        elif isinstance(part, ast.Import):
            found.update(a.name for a in part.names)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            tests.append(node.name)
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in settings:
            settings[getattr(node.targets[0], "id", "")] = ast.literal_eval(node.value)
    needs, heap = tuple(settings["NEEDS"]), settings["HEAP"]
    return Suite(path, tuple(tests), needs, heap, frozenset(found))


def results(output: str) -> dict[str, tuple[str, str]]:
    """{test: (PASS | FAIL | SKIP, text)} from what devtest.run() printed; other output lines
    belong to a failure."""
    found: dict[str, tuple[str, str]] = {}
    last = ""
    for line in output.splitlines():
        words = line.split(" ", 2)
        if words[0] in ("@PASS", "@FAIL", "@SKIP") and len(words) > 1:
            last = words[1]
            found[last] = (words[0][1:], words[2] if len(words) > 2 else "")
        elif last and found[last][0] == "FAIL":
            found[last] = ("FAIL", found[last][1] + "\n" + line)
    return found
