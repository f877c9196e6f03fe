# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maix.sys.memory_info(), with the real one's gaps.

Empty without /proc, 0 for what cannot be opened, hw_total missing or rounded to another size.
"""

import re

import maixcam_board as board

_GIB = 1 << 30


def device_id(cache=True):
    """The board's name in small letters."""
    return {"linux": ""}.get(board.chip, board.chip)


def memory_info():
    """{name: bytes}."""
    try:
        text = board.read_text("/proc/meminfo")
    except OSError:
        return {}
    total = _number(r"MemTotal: *(\d+) kB", text) * 1024
    available = _number(r"MemAvailable: *(\d+) kB", text) * 1024
    info = {
        "total": total,
        "used": total - available,
        "cma_total": 0,
        "cma_used": 0,
        "cmm_total": 0,
        "cmm_used": 0,
    }
    _PLATFORM[board.chip](info)
    return info


def _number(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0


def _maixcam(info):
    info["hw_total"] = 256 * 1024 * 1024
    for key, name in (("cmm_used", "alloc_mem"), ("cmm_total", "total_mem")):
        try:
            info[key] = _number(r"(\d+)", board.read_text(board.ION + name))
        except OSError:
            pass


def _maixcam2(info):
    try:
        text = board.read_text(board.CMM_INFO)
    except OSError:
        return
    info["cmm_total"] = _number(r"total size=(\d+)KB", text) * 1024
    info["cmm_used"] = _number(r"total size=\d+KB[^u]*used=(\d+)KB", text) * 1024
    total = info["total"] + info["cmm_total"]
    # The bounds were meant as 3.9 and 4.1 GiB; an integer cast makes them 3 and 4.
    if 3 * _GIB < total < 4 * _GIB:
        total = 4 * _GIB
    elif 0.9 * _GIB < total < 1.1 * _GIB:
        total = _GIB
    info["hw_total"] = total


def _linux(info):
    info["hw_total"] = info["total"]


_PLATFORM = {"maixcam": _maixcam, "maixcam2": _maixcam2, "linux": _linux}
