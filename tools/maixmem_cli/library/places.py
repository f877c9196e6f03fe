# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where the command finds the device library, the shims and MicroPython: in a checkout, or beside
the package."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[3]


def lib() -> Path:
    """The folder with maixmem.py."""
    checkout = _CHECKOUT / "lib"
    return checkout if (checkout / "maixmem.py").is_file() else Path(__file__).resolve().parents[2]


def checkout() -> Path | None:
    """The top of the repository, or None when only the package is installed."""
    return _CHECKOUT if (_CHECKOUT / "lib" / "maixmem.py").is_file() else None


def shims() -> Path:
    """The folder with the stand-ins of all platforms."""
    checkout = _CHECKOUT / "port_shims"
    return checkout if checkout.is_dir() else lib() / "maixmem_shims"


def device_tests() -> Path:
    """The folder with the tests that run on a board."""
    checkout = _CHECKOUT / "host_tests" / "device"
    return checkout if checkout.is_dir() else lib() / "maixmem_device_tests"


def k210() -> list[Path]:
    """The import path of the K210's stand-in: what a script imports, the chip behind it, the
    simulator around it, what all stand-ins and the model need."""
    parts = [shims() / "k210" / part for part in ("api", "chip", "sim")]
    return [*parts, shims(), lib()]


def micropython() -> str | None:
    """The MicroPython unix port beside this Python or on the PATH."""
    beside = Path(sys.executable).parent / "micropython"
    return str(beside) if beside.is_file() else shutil.which("micropython")
