# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The board's C under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import os
import subprocess

from maixmem_cli.emulator import compiler
from maixmem_cli.emulator.cores import Native

_OPTIONS = (
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)


def core() -> Native:
    """A core whose process ends with words about the first fault."""
    library = compiler.shared_library(_OPTIONS)
    asan = [*(compiler.compiler() or "cc").split(), "-print-file-name=libasan.so"]
    preload = subprocess.check_output(asan, text=True).strip()
    return Native(library, {**os.environ, "LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"})
