# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Firmware images for the tests of the board in software, and boards made of them. Nothing here:
such tests skip."""

from __future__ import annotations

import ast
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import paths
import pytest
from maixmem_cli.emulator import cores, prepared
from maixmem_cli.emulator.board import Board
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.flash import image as flash_image
from maixmem_cli.serial.repl import RawRepl

#: the long comparisons: dev.py test --emulator
THOROUGH = bool(os.environ.get("MAIXMEM_EMULATOR"))


def images() -> list[Path]:
    """What $MAIXMEM_FIRMWARE names: images, packages, folders of them; each content once."""
    found: dict[Path, None] = {}
    for name in filter(None, os.environ.get("MAIXMEM_FIRMWARE", "").split(os.pathsep)):
        path = Path(name)
        each = sorted(path.iterdir()) if path.is_dir() else [path]
        found.update(dict.fromkeys(p.resolve() for p in each if p.suffix in (".bin", ".kfpkg")))
    return list(found)


_FEW = 2  # firmwares in the everyday suite
IMAGES = images() if THOROUGH else images()[:_FEW]
needs_cc = pytest.mark.skipif(
    cores.missing() is not None, reason=f"NO BOARD IN SOFTWARE: {cores.missing()}"
)
needs_image = pytest.mark.skipif(
    not IMAGES,
    reason="NO FIRMWARE: set MAIXMEM_FIRMWARE to images of MaixPy v1 or a folder of them",
)
only_thorough = pytest.mark.skipif(
    not THOROUGH, reason="NOT COMPARED IN DEPTH: python3 tools/dev.py test --emulator does"
)
each_image = pytest.mark.parametrize(
    "image",
    [pytest.param(p, id=p.stem) for p in IMAGES] or [pytest.param(None, marks=needs_image)],
)


def answer(repl: RawRepl, code: str) -> Any:
    """The plain value whose repr() is the last line that the code prints."""
    return ast.literal_eval(repl.check(code).strip().splitlines()[-1])


def model(name: str) -> Path:
    """A real model of the models' folder, or a loud skip."""
    folder = paths.models()
    if folder is None:
        pytest.skip("NO REAL MODELS: set MAIXMEM_MODELS")
    return folder / name


def modern() -> list[Path]:
    """Images whose Maix.utils has heap_free(): asked, not known by name."""
    return [p for p in IMAGES if b"heap_free" in bytes(flash_image.build(p))]


@contextlib.contextmanager
def started(
    image: Path, files: tuple[tuple[int, Path], ...] = (), **more: object
) -> Iterator[tuple[Board, RawRepl]]:
    """A board at its prompt, and its raw REPL."""
    with prepared.booted(image, files, **more) as board:  # type: ignore[arg-type]
        yield board, RawRepl(image.name, SerialPort(board))
