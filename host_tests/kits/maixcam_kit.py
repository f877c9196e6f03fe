# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the tests of MaixCAM share: the stand-in and the port, and models in files."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

from cvimodel_build import cvimodel, program
from linux_boards import shim

board, maixcam = shim("maixcam", "maixcam_board", "maixmem_maixcam")

# the shim's folder is importable only now; for the tests
from maix import err, image, nn, sys  # noqa: E402

GIB, MIB = 1 << 30, 1 << 20
# Measured on the vendor's runtime: two models that take this much, the smaller with activations of
# SMALL_SHARED.
BIG_FIRST, SMALL_FIRST, SMALL_SHARED = 6882160, 7183216, 301056
SMALL_NEED = 1436160


def writer(folder: Path) -> Callable[..., str]:
    """Writes models: writer(folder)(name, weights, shared) -> path; an axmodel is so many
    bytes."""

    def write(name: str, weights: int, shared: int = 0, **more) -> str:
        path = folder / name
        io = [("in", "UINT8", (1, 3, 10, 10))]
        parts = [program(shared=shared, inputs=io, outputs=io[:0])]
        path.write_bytes(cvimodel([("weight", weights)], parts, **more))
        return str(path)

    return write


def port(**more):
    return maixcam.Port(board.read_text, **more)


def pair(files) -> tuple[str, str]:
    """(big, small) with the needs of the measured pair."""
    big_need = SMALL_FIRST - SMALL_NEED
    big = files("big.cvimodel", big_need - 300 - 3 * MIB, 3 * MIB)
    small = files("small.cvimodel", SMALL_NEED - 300 - SMALL_SHARED, SMALL_SHARED)
    return big, small
