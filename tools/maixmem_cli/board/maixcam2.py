# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The MaixCAM2 that this runs on: its memory, and its /boot/configs written."""

from __future__ import annotations

import os
from pathlib import Path

from maixmem_maixcam.cmm import LINUX_MIB

_MEMINFO = "/proc/meminfo"
_CMM = "/proc/ax_proc/mem_cmm_info"


def hardware_mib(meminfo: str = _MEMINFO, cmm: str = _CMM) -> int | None:
    """MiB of the board that this runs on, or None where that is no MaixCAM2: Linux and the
    carve-out, up to a size that is sold."""
    try:
        linux = _kib(Path(meminfo).read_text(), "MemTotal:")
        carved = _kib(Path(cmm).read_text().replace("=", " ").replace("KB", " "), "size")
    except (OSError, ValueError):
        return None
    mib = (linux + carved) >> 10
    return min([n for n in LINUX_MIB if n >= mib] or [mib])


def _kib(text: str, name: str) -> int:
    words = text.split()
    return int(words[words.index(name) + 1])


def write(file: Path, text: str) -> None:
    """Replaces a file at once, and keeps what it was beside it: a half written one would not
    boot."""
    backup, new = file.with_name(file.name + ".bak"), file.with_name(file.name + ".new")
    backup.write_bytes(file.read_bytes())
    with new.open("w", encoding="utf-8", newline="") as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    new.replace(file)
