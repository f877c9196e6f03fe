# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The device tests on every interpreter: one process per file and interpreter, one pytest line per
test.

The id of a test begins with interpreter and file: conftest.py keeps those together on one worker.
"""

from __future__ import annotations

import functools
from pathlib import Path

import interpreters
import pytest
from maixmem_cli.library import suites

SUITES = {s.module: s for s in suites.suites()}
RUNTIMES = {i.name: i for i in interpreters.ALL}
CASES = [
    pytest.param(i.name, s.module, test, id=f"{i.name}-{s.module}-{test}")
    for i in interpreters.ALL
    for s in SUITES.values()
    if s.runs_on(i.name) and (s.portable or not i.portable)
    for test in s.tests
]


@functools.lru_cache(maxsize=None)
def outcome(runtime: str, module: str, folder: str) -> tuple[dict, str]:
    """Runs one file once; its results and its whole output."""
    script = Path(folder) / f"run_{runtime}_{module}.py"
    script.write_text(SUITES[module].main(), encoding="utf-8")
    done = RUNTIMES[runtime].run(script, heap=SUITES[module].heap)
    return suites.results(done.stdout), f"exit status {done.returncode}\n{done.stdout}"


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> str:
    return str(tmp_path_factory.mktemp("device"))


@pytest.mark.parametrize(("runtime", "module", "test"), CASES)
def test_on(runtime: str, module: str, test: str, folder: str) -> None:
    if RUNTIMES[runtime].missing:
        pytest.skip(RUNTIMES[runtime].missing)
    found, output = outcome(runtime, module, folder)
    kind, text = found.get(test, ("FAIL", "did not finish: " + output[-3000:]))
    if kind == "SKIP":
        pytest.skip(f"{runtime} {module}: {text}")
    assert kind == "PASS", text
