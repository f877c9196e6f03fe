# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is in host_tests/device: the files, their tests and their needs, read without importing
them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import paths

#: GC heap on the MicroPython of 2019, where a file does not set its own: a collection costs 5 ms
#: for each MiB of it
HEAP = "2m"


@dataclass(frozen=True)
class Suite:
    """One device test file."""

    path: Path
    tests: tuple[str, ...]
    needs: tuple[str, ...]
    heap: str = HEAP

    @property
    def module(self) -> str:
        return self.path.stem

    def runs_on(self, name: str) -> bool:
        """True when the file is not limited to other interpreters."""
        limits = [n for n in self.needs if n in ("cpython", "unix", "mp2019")]
        return not limits or name in limits

    def main(self) -> str:
        """The script that runs the file's tests on an interpreter or a board."""
        return (
            f"import devtest\nimport {self.module}\ndevtest.run({self.module}, "
            f"{list(self.tests)!r})\n"
        )


def suites(folder: Path = paths.DEVICE) -> list[Suite]:
    """Every test_*.py of the folder, in order of name."""
    return [_read(p) for p in sorted(folder.glob("test_*.py"))]


def _read(path: Path) -> Suite:
    tests, settings = [], {"NEEDS": (), "HEAP": HEAP}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            tests.append(node.name)
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in settings:
            settings[node.targets[0].id] = ast.literal_eval(node.value)
    return Suite(path, tuple(tests), tuple(settings["NEEDS"]), settings["HEAP"])


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
