# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where things are, for tests and benchmarks that run on the host."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIB = ROOT / "lib"
SHIMS = ROOT / "port_shims"
#: the K210's stand-in: what a script imports, the chip behind it, the simulator around it; then
#: what all stand-ins use, and the K210's memory as numbers
API, CHIP, SIM = (SHIMS / "k210" / part for part in ("api", "chip", "sim"))
MODEL = SHIMS / "k210_model"
SHIM_PATH = (API, CHIP, SIM, SHIMS)
DEVICE = ROOT / "host_tests" / "device"
HOST_TESTS = ROOT / "host_tests"
KITS = HOST_TESTS / "kits"
RUNNERS = KITS / "runners"
EXAMPLES = ROOT / "examples"
TOOLS = ROOT / "tools"
#: What device code may import, in this order, on every interpreter.
DEVICE_PATH = (LIB, *SHIM_PATH, DEVICE, KITS)


def models() -> Path | None:
    """The folder of real models that $MAIXMEM_MODELS names, or None: such tests skip."""
    folder = os.environ.get("MAIXMEM_MODELS")
    return Path(folder) if folder and (Path(folder) / "TRUTH.tsv").is_file() else None


def micropython() -> Path | None:
    """The MicroPython unix port of the virtual environment (or of the PATH), or None."""
    local = Path(sys.executable).parent / "micropython"
    found = str(local) if local.is_file() else shutil.which("micropython")
    return Path(found) if found else None


def npm(name: str, variable: str = "") -> Path | None:
    """A package that tools/dev.py unpacked ($variable names another folder), or None."""
    folder = Path(sys.prefix) / "npm" / name / "package"
    folder = Path(os.environ.get(variable, folder))
    return folder if folder.is_dir() and shutil.which("node") else None


def mp2019_lib() -> Path | None:
    """The lib folder of npm micropython@1.1.8, or None."""
    folder = npm("mp2019")
    return folder / "lib" if folder else None


def built(name: str) -> Path | None:
    """What tools/build_interpreters.py built, or None."""
    if str(TOOLS) not in sys.path:
        sys.path.append(str(TOOLS))
    import build_interpreters

    path = build_interpreters.cache() / name
    return path if path.is_file() else None
