# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Import paths for host tests, and the loud end line that lists what was not checked."""

from __future__ import annotations

import gc
import random
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "kits"))

import fresh  # noqa: E402
from fresh import pytest_collection_finish  # noqa: E402
from paths import DEVICE_PATH, TOOLS  # noqa: E402

for folder in (TOOLS, *reversed(DEVICE_PATH)):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

# A shell starts background jobs with Ctrl-C ignored, and what they start inherits that: tests that
# press it need it
signal.signal(signal.SIGINT, signal.default_int_handler)

collect_ignore = [
    "device",
    "bench",
]  # device tests run through desk/test_device.py, on every interpreter


@pytest.fixture(autouse=True)
def fresh_start() -> None:
    """Every test begins with stand-ins and a library that remember nothing of the test before."""
    fresh.start()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--random-order", type=int, metavar="SEED", help="shuffle files and tests")


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--random-order")
    return None if seed is None else f"random order, seed {seed}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With a seed: files in random order and the tests of each as well; the fixtures
    of a file are still made once. Else what takes longest begins first: the end has no tail."""
    seed = config.getoption("--random-order")
    if seed is None:
        items.sort(key=lambda item: item.path.parent.name != "sim")
    else:
        place = random.Random(seed)
        files = {item.path: place.random() for item in items}
        order = {id(item): (files[item.path], place.random()) for item in items}
        items.sort(key=lambda item: order[id(item)])


@pytest.fixture
def plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the GC heap that the K210 stand-in gives CPython, once any test in this process has
    imported it."""
    monkeypatch.delattr(gc, "mem_alloc", raising=False)
    monkeypatch.delattr(gc, "mem_free", raising=False)


#: mpremote and the commands wait for a slow board there: one worker waits while others compute
_WAITS = ("desk/test_mip.py", "desk/test_live.py", "desk/test_deploy.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Gives the device tests of one interpreter and file to one worker, which runs the file once;
    and all that mostly waits to one. What has most tests begins first.

    Marks for --dist=loadgroup did not do so here: the tests of a file went to all workers, and
    each ran the file.
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneWorkerForEachRun(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if "test_device.py::test_on[" in nodeid:
                return nodeid.rsplit("-", 1)[0]
            return "waits" if nodeid.split("::", maxsplit=1)[0].endswith(_WAITS) else nodeid

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
