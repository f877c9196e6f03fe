# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The system heap of a K210, queried without an access to /flash: `import os` is one."""

import gc
import sys


def platform():
    """What it is."""
    return sys.platform


def room():
    """Bytes behind malloc's break; -1 where nobody tells."""
    gc.collect()
    try:
        from Maix import utils

        return utils.heap_free()
    except (ImportError, AttributeError):
        return -1
