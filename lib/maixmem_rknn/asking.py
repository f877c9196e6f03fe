# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the child of trial.py does: it takes the question that its parent is going to ask."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys

from maixmem_rknn.loading import Loader, buffer
from maixmem_rknn.port import Port
from maixmem_rknn.trial import ANSWERED, BEGUN


def main() -> None:
    """Of the library and the question that the arguments name, and the file at stdin."""
    library, flag, external = sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1"
    loader = Loader(Port(ctypes.CDLL(library)))
    data = buffer(sys.stdin.buffer.read())
    os.write(1, BEGUN)
    with contextlib.suppress(Exception):  # who asks next will see it
        loader.measure(data, flag, external)
    os.write(1, ANSWERED)
    os._exit(0)  # the end of the runtime is not asked for
