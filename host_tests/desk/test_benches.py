# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The benches that need no board run to their end: what they measure moves, and they have to move
with it."""

from __future__ import annotations

import re
import subprocess
import sys

import paths
import pytest
from maixmem_cli.library.modules import K210

pytestmark = pytest.mark.skipif(
    paths.micropython() is None, reason="no MicroPython unix port here: benches measure on it"
)


def bench(name: str, *options: str) -> str:
    """What `dev.py bench NAME` prints below its heading."""
    command = [sys.executable, str(paths.TOOLS / "dev.py"), "bench", name, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
    return done.stdout.split(f"=== bench {name}\n", 1)[1]


def test_size() -> None:
    said = bench("size")
    assert all(re.search(rf"^{module} +\d+ bytes of .mpy", said, re.MULTILINE) for module in K210)
    assert "all that a K210 needs" in said


def test_objects() -> None:
    rows = bench("objects").splitlines()[2:]
    assert len(rows) >= 12 and all(re.search(r"\| \d+ B \| (\d+ B|-) \|$", row) for row in rows)
    resident = next(row for row in rows if "use()" in row)
    assert resident.endswith("| 0 B |")  # a budget: nothing, on any interpreter


def test_flash() -> None:
    said = bench("flash", "--layouts", "50")
    assert "50: 0 missed, 0 false alarms" in said and "GC heap it holds" in said


def test_kmodel() -> None:
    said = bench("kmodel")
    assert "OVER" not in said and said.count("at peak") >= 3


def test_mutants_are_held_against_tests_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(paths.HOST_TESTS / "bench"))
    import mutate

    named = [paths.LIB / f"{module}.py" for module in (*mutate.TESTS, *mutate.DESK)]
    named += [paths.DEVICE / f"{name}.py" for tests in mutate.TESTS.values() for name in tests]
    named += [paths.HOST_TESTS / "desk" / f"{name}.py" for name in mutate.DESK.values()]
    assert [path.name for path in named if not path.is_file()] == []
