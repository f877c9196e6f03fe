# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where the command finds the device library, the shims and MicroPython: in a checkout, or in the
installed package."""

from __future__ import annotations

import contextlib
import shutil
import sys
from importlib import metadata
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[3]
_INSTALLED = not (_CHECKOUT / "lib" / "maixmem.py").is_file()
_PACKAGE = Path(__file__).resolve().parents[1]


def checkout() -> Path | None:
    """The top of the repository, or None when only the package is installed."""
    return None if _INSTALLED else _CHECKOUT


def _either(in_checkout: str, installed: Path) -> Path:
    return installed if _INSTALLED else _CHECKOUT / in_checkout


def lib() -> Path:
    """The folder with maixmem.py."""
    return _either("lib", _PACKAGE / "lib")


def shims() -> Path:
    """The folder with the stand-ins of all platforms."""
    return _either("port_shims", _PACKAGE.parent / "maixmem_shims")


def device_tests() -> Path:
    """The folder with the tests that run on a board."""
    return _either("host_tests/device", _PACKAGE / "device_tests")


def board_in_c() -> Path:
    """The folder with the C of the K210 in software, and its module."""
    return _either("tools/k210board", _PACKAGE / "k210board")


def page() -> Path:
    """The page for browsers: in a checkout the folder that `dev.py web` makes, in the package an
    archive of it."""
    return _either("dist/web", _PACKAGE / "page" / "site.zip")


def manual(section: str) -> str:
    """Where a section of the manual is: a file of the checkout, or its address, which the package
    has from pyproject.toml."""
    urls: list[str] = []
    if _INSTALLED:
        with contextlib.suppress(metadata.PackageNotFoundError):
            urls = metadata.metadata("maixmem").get_all("Project-URL") or []
    address = next((u.partition(", ")[2] for u in urls if u.startswith("Repository, ")), "")
    return f"{address}/blob/HEAD/docs/{section}" if address else f"docs/{section}"


def k210() -> list[Path]:
    """The import path of the K210's stand-in: what a script imports, the chip behind it, the
    simulator around it, what all stand-ins and the model need."""
    parts = [shims() / "k210" / part for part in ("api", "chip", "sim")]
    return [*parts, shims(), lib()]


def micropython() -> str | None:
    """The MicroPython unix port beside this Python or on the PATH."""
    beside = Path(sys.executable).parent / "micropython"
    return str(beside) if beside.is_file() else shutil.which("micropython")
