# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Who a board is."""

import gc
import sys

from maixmem_report import find_port

try:
    import os
except ImportError:
    import uos as os


def who():
    i = sys.implementation
    gc.collect()
    return (
        i.name,
        tuple(i.version)[:3],
        sys.platform,
        os.uname()[4] if hasattr(os, "uname") else sys.platform,
        os.uname()[3] if hasattr(os, "uname") else "",
        getattr(i, "_mpy", getattr(i, "mpy", -1)),
        [str(p) for p in getattr(sys, "path", ())],
        os.getcwd() if hasattr(os, "getcwd") else "",
        gc.mem_free(),
        find_port(),
    )
