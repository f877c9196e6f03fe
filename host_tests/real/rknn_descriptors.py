# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Loads with 6 to 40 free descriptors: what each ended with, and whether the port's figure covers
the driver's."""

import os
import resource
import sys

from rknn_board import MODELS, board, tell

there, version = board()
import maixmem_rknn  # noqa: E402
from maixmem import KModelError, NoRoom  # noqa: E402

LIMIT = 160
resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
port = maixmem_rknn.Port(there.lib, soc="rk3588", budget=64 << 20)
for name in [name for name in MODELS if version >= MODELS[name][2]]:
    with open(there.path(name), "rb") as f:
        data = f.read()
    for k in range(200 if name == "two" else 35):
        free = 6 + k % 35
        taken = []
        while LIMIT - len(os.listdir("/proc/self/fd")) + 1 > free:
            taken.append(os.open("/dev/null", os.O_RDONLY))
        model, said = None, "loaded"
        try:
            model = port.load(data)
        except (NoRoom, KModelError) as e:
            said = getattr(e, "region", "") or str(e)
        covered = port.used >= there.live()
        if model:
            port.unload(model)
        for fd in taken:
            os.close(fd)
        tell(name, free, said, covered)
tell("end", there.live(), there.held(), there.bad(), port.used, port.lib.leaked_bytes)
sys.stdout.flush()
os._exit(0)
