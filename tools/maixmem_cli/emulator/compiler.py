# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The C board, compiled by the system's `cc` at first use and kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from maixmem_cli.library import places

# All devices are read and written by functions of one type; not each needs all of it.
WARNINGS = ("-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror")
# Floating point as it is written, with the rounding that is set.
FLOAT = ("-std=gnu11", "-ffp-contract=off", "-frounding-math", "-fno-math-errno")
FAST = ("-O3", "-fno-gcse", *FLOAT)  # -fno-gcse keeps the interpreter's threaded code threaded
SANITIZED = ("-O1", "-g", "-fno-omit-frame-pointer", *FLOAT)
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


class NoBoardHere(Exception):
    """The board in software cannot be had on this machine; the text is one line with the next
    step."""


def sources() -> Path:
    """The folder with the C files: in a checkout, or beside the installed package."""
    checkout = Path(__file__).resolve().parents[2] / "k210board"
    return checkout if checkout.is_dir() else places.lib() / "maixmem_k210board"


def cache() -> Path:
    """The user's folder for what can be made again."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "maixmem"


def missing() -> str | None:
    """Why there is no board here, or None."""
    if sys.platform == "win32":
        return "the board in software runs on Linux. Next: use it in WSL (wsl --install)"
    if not (os.environ.get("CC") or shutil.which("cc")):
        return (
            "no C compiler here: the board in software is compiled at first use. Next: "
            "install one (Debian: apt install gcc)"
        )
    return None


class _NotHere(click.ClickException):
    exit_code = 2


def check() -> None:
    """Ends a command, with exit status 2, where there can be no board."""
    why = missing()
    if why:
        raise _NotHere(why)


def board_program(*, sanitize: bool = False) -> Path:
    """The compiled board. NoBoardHere when it cannot be made."""
    why = missing()
    if why:
        raise NoBoardHere(why)
    cc = os.environ.get("CC") or "cc"
    files = sorted(sources().glob("*.[ch]"))
    options = [*SANITIZED, *SANITIZERS] if sanitize else [*FAST]
    key = hashlib.sha256(repr((cc, options, platform.node(), platform.machine())).encode())
    for f in files:
        key.update(f.name.encode() + f.read_bytes())
    program = cache() / f"k210board-{key.hexdigest()[:16]}"
    if not program.is_file():
        _compile(cc, options, [f for f in files if f.suffix == ".c"], program)
    return program


def _compile(cc: str, options: list[str], files: list[Path], program: Path) -> None:
    try:
        program.parent.mkdir(parents=True, exist_ok=True)
        handle, temp = tempfile.mkstemp(dir=program.parent)
    except OSError as e:
        raise NoBoardHere(
            f"{program.parent} cannot be written: {e.strerror}. Next: set XDG_CACHE_HOME"
        ) from e
    os.close(handle)
    said = ""
    # the second try is for compilers that do not know this processor by name
    for native in (["-march=native"], []):
        command = [*cc.split(), *options, *native, *WARNINGS, "-o", temp, *map(str, files), "-lm"]
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True)
        except OSError as e:
            said = str(e)
            break
        if done.returncode == 0:
            os.replace(temp, program)
            return
        said = done.stderr
    os.unlink(temp)
    lines = [line for line in said.splitlines() if "error" in line] or said.splitlines() or ["?"]
    raise NoBoardHere(
        f"{cc} could not compile the board: {lines[0]}. Next: try another compiler, CC=gcc"
    )
