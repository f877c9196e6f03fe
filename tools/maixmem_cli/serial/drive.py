# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Boards whose files are a USB drive (CircuitPython): finding the drive, and copying so that no
half file stays."""

from __future__ import annotations

import os
import shutil
import string
import sys
from collections.abc import Callable
from pathlib import Path

_MARK = "boot_out.txt"
_RESERVE = 4096


def is_drive(path: Path) -> bool:
    """True for a mounted board: CircuitPython writes boot_out.txt at every start."""
    return (path / _MARK).is_file()


def find() -> list[Path]:
    """The mounted CircuitPython drives of this machine."""
    if sys.platform == "win32":
        places = [Path(f"{letter}:/") for letter in string.ascii_uppercase[2:]]
    else:
        places = [
            p
            for root in ("/media", "/run/media", "/Volumes", "/mnt")
            for p in Path(root).glob("*")
        ]
        places += [p for root in ("/media", "/run/media") for p in Path(root).glob("*/*")]
    return [p for p in places if is_drive(p)]


def copy(
    drive: Path, files: dict[str, bytes], progress: Callable[[str, int], None]
) -> tuple[list[str], list[str]]:
    """Puts files into drive/lib, each under a temporary name first, read back and renamed;
    (copied, same) names.

    OSError says what went wrong; the file of that name is then the old one, as are all after it.
    """
    folder = drive / "lib"
    folder.mkdir(exist_ok=True)
    copied, same = [], []
    for name, data in files.items():
        place = folder / name
        if place.is_file() and place.read_bytes() == data:
            same.append(str(place))
        else:
            _put(place, data)
            copied.append(str(place))
        progress(name, len(data))
    return copied, same


def _put(place: Path, data: bytes) -> None:
    free = shutil.disk_usage(place.parent).free
    if free < len(data) + _RESERVE:
        raise OSError(f"{place}: needs {len(data)} bytes, the drive has {free} free")
    temp = place.with_name(place.name + "~")
    try:
        with open(temp, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        if temp.read_bytes() != data:
            raise OSError(f"{place}: the drive did not keep what was written")
        os.replace(temp, place)
    finally:
        temp.unlink(missing_ok=True)
