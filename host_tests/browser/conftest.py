# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The page in a browser: python3 tools/dev.py test --browser. Every test fails where the page says
something on the browser's console, or asks another machine for anything."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paths
import pytest
from browser_page import opened
from maixmem_cli.library import places
from maixmem_cli.page import server

HERE = Path(__file__).resolve().parent
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
#: Debian's, and how Playwright starts each: $CHROMIUM and $FIREFOX name others
BROWSERS: dict[str, dict[str, Any]] = {
    "chromium": {"args": FLAGS},
    "firefox": {"channel": "moz-firefox"},  # by WebDriver BiDi, as it is
}
_WHY = "THE PAGE WAS NOT TRIED: python3 tools/dev.py test --browser does, with chromium"
_SLOW = "THE PAGE WAS TRIED IN PART: python3 tools/dev.py test --browser does the rest"


def program(name: str) -> str:
    """Where a browser is; "" where there is none."""
    found = os.environ.get(name.upper()) or shutil.which(name) or shutil.which(f"{name}-esr")
    return found or ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """dev.py test runs what is marked `quick` in chromium where there is one."""
    wanted = os.environ.get("MAIXMEM_BROWSER")
    for item in items:
        if HERE not in item.path.parents:
            continue
        item.add_marker(pytest.mark.xdist_group("browser"))
        quick = item.get_closest_marker("quick") and "[chromium" in item.name
        if not wanted:
            item.add_marker(pytest.mark.skip(reason=_WHY))
        elif wanted == "quick" and not quick:
            item.add_marker(pytest.mark.skip(reason=_SLOW))


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of dist/web, served as a site in a folder, without a header of its own."""
    page = places.page()
    with server.serve(page.parent, 0) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"{serving.address}{page.name}/"
        serving.shutdown()


@pytest.fixture(scope="session")
def playwright() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as made:
        yield made


@pytest.fixture(scope="session", params=BROWSERS)
def browser(playwright: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    name = request.param
    where = program(name)
    if not where:
        pytest.skip(f"NO {name.upper()}: the page was not tried in it")
    made = getattr(playwright, name).launch(executable_path=where, **BROWSERS[name])
    yield made
    made.close()


@pytest.fixture
def context(browser: Any, site: str) -> Iterator[Any]:
    """A browser that was never here; in the end nothing went elsewhere or wrong."""
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    foreign: list[str] = []
    wrong: list[str] = []
    made.on("request", lambda r: r.url.startswith((site, "blob:")) or foreign.append(r.url))
    made.on("console", lambda m: m.type in ("error", "warning") and wrong.append(m.text))
    made.on("weberror", lambda e: wrong.append(str(e.error)))
    yield made
    made.close()
    assert (foreign, wrong) == ([], [])


@pytest.fixture
def page(context: Any, site: str) -> Any:
    """The page, opened."""
    return opened(context, site)


@pytest.fixture(scope="session")
def firmware() -> Path:
    """An image of MaixPy v1: the first that $MAIXMEM_FIRMWARE names."""
    import emulated

    found = [p for p in emulated.images() if p.suffix == ".bin"]
    if not found:
        pytest.skip("NO FIRMWARE: set MAIXMEM_FIRMWARE to images of MaixPy v1 or a folder of them")
    return found[0]


@pytest.fixture(scope="session")
def command() -> Callable[..., Any]:
    """`maixmem ...` on this desk, as wide as in the page: the result of click's runner."""
    return run_command


def run_command(*words: object, folder: Path) -> Any:
    import subprocess

    path = os.pathsep.join(str(p) for p in (paths.TOOLS, paths.LIB))
    env = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": path}
    command = [sys.executable, "-m", "maixmem_cli", *map(str, words)]
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
