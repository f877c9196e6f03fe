# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where a board keeps its RKNN runtime."""

from __future__ import annotations

import ctypes
import glob
import os
from typing import Any

from maixmem import run_once

NAMES = ("librknnrt.so", "librknnmrt.so")
# Places that the loader of some boards does not search: multiarch folders of images without
# ldconfig, the RV1106's read-only partition, Android's.
FOLDERS = (
    *("/usr/lib", "/usr/lib/*-linux-gnu*", "/lib", "/lib/*-linux-gnu*", "/usr/lib64"),
    *("/usr/local/lib", "/oem/usr/lib", "/vendor/lib64", "/vendor/lib"),
)
_DRIVERS = ("/dev/dri/card*", "/dev/dri/renderD*", "/dev/rknpu*")


def find() -> str | None:
    """The path of the runtime in one of FOLDERS, or None; looks, loads nothing."""
    for name in NAMES:
        for folder in FOLDERS:
            for path in sorted(glob.glob(os.path.join(folder, name))):
                return path
    return None


def open_library() -> Any:
    """The runtime of this board: librknnrt, or librknnmrt on RV1103 and RV1106. ImportError where
    there is neither.

    The loader is tried first (LD_LIBRARY_PATH, ldconfig), then FOLDERS.
    """
    tried = []
    for name in (*NAMES, find()):
        if name:
            try:
                return ctypes.CDLL(name)
            except OSError as e:
                tried.append(str(e))
    text = "neither librknnrt.so nor librknnmrt.so can be opened ({}).\ninstall the runtime of "
    text += "your board, or give Port(ctypes.CDLL(path))"
    raise ImportError(run_once("text", "tell", text, "; ".join(tried)))


def has_driver() -> bool:
    """False where none of the device files exists that the NPU's kernel driver creates."""
    return any(glob.glob(pattern) for pattern in _DRIVERS)
