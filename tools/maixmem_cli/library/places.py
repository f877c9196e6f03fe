# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where the command finds the device library, the shims and MicroPython: in a checkout, or beside
the package."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path
from types import ModuleType

_CHECKOUT = Path(__file__).resolve().parents[3]


def lib() -> Path:
    """The folder with maixmem.py."""
    checkout = _CHECKOUT / "lib"
    return checkout if (checkout / "maixmem.py").is_file() else Path(__file__).resolve().parents[2]


def checkout() -> Path | None:
    """The top of the repository, or None when only the package is installed."""
    return _CHECKOUT if (_CHECKOUT / "lib" / "maixmem.py").is_file() else None


def shim(platform: str) -> Path:
    """The folder with the stand-in modules of a platform."""
    checkout = _CHECKOUT / "port_shims" / platform
    return checkout if checkout.is_dir() else lib() / "maixmem_shims" / platform


def shim_module(platform: str, name: str) -> ModuleType:
    """A module of the stand-in for a platform: its figures and books are the command's too."""
    folder = str(shim(platform))
    if folder not in sys.path:
        sys.path.append(folder)  # behind everything else: it has modules named as the board's
    return importlib.import_module(name)


def micropython() -> str | None:
    """The MicroPython unix port beside this Python or on the PATH."""
    beside = Path(sys.executable).parent / "micropython"
    return str(beside) if beside.is_file() else shutil.which("micropython")
