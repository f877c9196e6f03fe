# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Import paths for host tests, and the loud end line that lists what was not checked."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from paths import DEVICE_PATH, TOOLS  # noqa: E402

for folder in (TOOLS, *reversed(DEVICE_PATH)):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

collect_ignore = [
    "device",
    "bench",
]  # device tests run through host/test_device.py, on every interpreter


@pytest.fixture
def plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the GC heap that the K210 stand-in gives CPython, once any test in this process has imported it."""
    monkeypatch.delattr(gc, "mem_alloc", raising=False)
    monkeypatch.delattr(gc, "mem_free", raising=False)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Gives the device tests of one interpreter and file to one worker, which runs the file once.

    Marks for --dist=loadgroup did not do so here: the tests of a file went to all workers, and each ran the file.
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneWorkerForEachRun(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid.rsplit("-", 1)[0] if "test_device.py::test_on[" in nodeid else nodeid

    return OneWorkerForEachRun(config, log)


def pytest_terminal_summary(terminalreporter) -> None:
    """Says once, at the end, which checks were skipped and why."""
    reasons: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[text] = reasons.get(text, 0) + 1
    if reasons:
        terminalreporter.section("NOT CHECKED HERE", sep="=")
        for text, count in sorted(reasons.items()):
            terminalreporter.line(f"{count:5d} x {text}")
