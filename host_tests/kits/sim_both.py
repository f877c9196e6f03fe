# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One program on the stand-in and on a real firmware: the build that tests are given, and what
each prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import paths
import pytest
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.library import places


def firmware(build: str) -> Path | None:
    """The file of a build, known by its size."""
    for name in os.environ.get("MAIXMEM_FIRMWARE", "").split(os.pathsep):
        place = Path(name)
        files = sorted(place.iterdir()) if name and place.is_dir() else [place]
        for path in files:
            if path.is_file() and path.stat().st_size == FIRMWARES[build].image:
                return path
    return None


NO_IMAGE = (
    "no such build of v0.6.2_84 in $MAIXMEM_FIRMWARE, no MicroPython unix port, or no C compiler"
)
HAS_UNIX_PORT = places.micropython() is not None
needs_unix_port = pytest.mark.skipif(not HAS_UNIX_PORT, reason="no MicroPython unix port")
CAN_RUN = places.micropython() is not None and shutil.which("cc") is not None


#: prints gc.mem_free() after the usual imports and the bytes of the largest block
ASK_GC = """
import gc
gc.collect()
import sensor, image, lcd, time
import KPU as kpu
gc.collect()
print("free", gc.mem_free())
def largest():
    low, high = 0, gc.mem_free()
    while high - low > 32:
        n = (low + high) // 2
        try:
            x = bytearray(n)
            x = None
            low = n
        except MemoryError:
            high = n
        gc.collect()
    return low
print("largest", largest())
"""


def run(folder: Path, *options: str) -> list[str]:
    """What the program printed: a call and heap_free() after it."""
    command = [sys.executable, "-m", "maixmem_cli", "sim", str(folder / "program.py"), *options]
    done = subprocess.run(
        command, cwd=paths.TOOLS, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return re.findall(r"^[^[\r\n][^\r\n]* \d+$", done.stdout.replace("\r", ""), re.M)
