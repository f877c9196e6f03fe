# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Loads while the process has few addresses left: what the runtime cannot map it loses. Each row
is one amount that is left: how the load ended, and the port's figure beside the driver's."""

import mmap
import os
import sys

from rknn_board import MODELS, board, tell

there, version = board()
import maixmem_rknn  # noqa: E402

HOW = {"shared": {}, "dup": {"dup": True}, "dynamic": {"dynamic": True}}


def fill(left):
    """Takes addresses until only pieces below 16 KiB are left, then gives back `left` bytes."""
    kept, size = [mmap.mmap(-1, left, prot=0)], 1 << 30
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    while size >= 16384:
        try:
            kept.append(mmap.mmap(-1, size, flags=flags, prot=0))
        except (OSError, MemoryError):
            size //= 2
    kept.pop(0).close()
    return kept


def load(name, how, left):
    port = maixmem_rknn.Port(there.lib, soc="rk3588", budget=64 << 20)
    path = there.path(name)
    port.unload(port.load(path, **HOW[how]))  # what Python and the runtime take for good
    kept = fill(left)
    try:
        port.load(path, **HOW[how])
        ended = "loaded"
    except Exception as e:
        ended = type(e).__name__
        e.__traceback__ = None
    del kept[:]
    counted = port.used - there.live()
    port.close()
    tell(name, how, left, ended, counted, there.live(), port.used, port.lib.leaked_bytes)


for name in [name for name in MODELS if version >= MODELS[name][2]]:
    for how in HOW:
        for left in [1 << n for n in range(15, 23)]:
            child = os.fork()  # one that the runtime brings down takes no other along
            if not child:
                load(name, how, left)
                sys.stdout.flush()
                os._exit(0)
            if os.waitpid(child, 0)[1]:
                tell(name, how, left, "the process ended")
os._exit(0)
