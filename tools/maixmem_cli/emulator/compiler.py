# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The board's C as a shared library, for machines without wasmtime: made by the system's `cc` at
first use and kept in the user's cache."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from maixmem_cli.library import places

_FAST = ("-O3", "-fno-gcse", "-fno-strict-aliasing", "-march=native")  # threaded dispatch
#: floating point as it is written; all devices are read and written by functions of one type
FLAGS = ("-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden")


class NoBoardHere(Exception):
    """There can be no board in software on this machine; one line with the next step."""


def cache() -> Path:
    """The user's folder for what can be built again."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "maixmem"


@functools.lru_cache(maxsize=None)
def version() -> str:
    """Of the C files: what was kept of another board is not used. One for the whole process, as
    its board is: they may be edited meanwhile."""
    key, top = hashlib.sha256(), places.board_in_c()
    for f in sorted(f for f in top.rglob("*.*") if f.suffix in (".c", ".h", ".def")):
        name = f.relative_to(top).as_posix()
        key.update(name.encode() + f.read_bytes().replace(b"\r\n", b"\n"))
    return key.hexdigest()[:16]


def compiler() -> str | None:
    """The C compiler's command, or None."""
    return os.environ.get("CC") or shutil.which("cc")


def shared_library(options: tuple[str, ...] = _FAST) -> Path:
    """The compiled board. NoBoardHere when it cannot be built."""
    cc = compiler()
    if not cc:
        raise NoBoardHere("no C compiler here. Next: install one (Debian: apt install gcc)")
    options = (*options, *FLAGS)
    about = repr((cc, options, platform.node(), platform.machine(), version()))
    made = cache() / f"k210board-{hashlib.sha256(about.encode()).hexdigest()[:16]}.so"
    if not made.is_file():
        _compile(cc, options, made)
    return made


def _compile(cc: str, options: tuple[str, ...], made: Path) -> None:
    try:
        made.parent.mkdir(parents=True, exist_ok=True)
        handle, temp = tempfile.mkstemp(dir=made.parent)
    except OSError as e:
        raise NoBoardHere(
            f"{made.parent} cannot be written: {e.strerror}. Next: set XDG_CACHE_HOME"
        ) from e
    os.close(handle)
    said = ""
    files = [str(f) for f in sorted(places.board_in_c().rglob("*.c"))]
    # the second try is for compilers that do not know this processor by name
    for but in ("", "-march=native"):
        flags = [o for o in options if o != but]
        command = [*cc.split(), "-shared", "-fPIC", *flags, "-o", temp, *files, "-lm"]
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True)
        except OSError as e:
            said = str(e)
            break
        if done.returncode == 0:
            os.replace(temp, made)
            return
        said = done.stderr
    os.unlink(temp)
    lines = [line for line in said.splitlines() if "error" in line] or said.splitlines() or ["?"]
    raise NoBoardHere(
        f"{cc} could not compile the board: {lines[0]}. Next: pip install wasmtime, or CC=gcc"
    )
