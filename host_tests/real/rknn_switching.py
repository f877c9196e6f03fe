# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Switches by a ModelManager: when the growth of the process is said, and how much beside what it
was. rknn_switching.py ROOT VERSION [SWITCHES]"""

import os
import sys

switches = int(sys.argv.pop()) if len(sys.argv) > 3 else 400

from rknn_board import MODELS, board, tell  # noqa: E402

there, version = board()
import maixmem_rknn  # noqa: E402
from maixmem_models import ModelManager  # noqa: E402


def resident():
    """KiB of the process that no file is behind."""
    with open("/proc/self/status") as f:
        return int([line for line in f if line.startswith("RssAnon:")][0].split()[1])


port = maixmem_rknn.Port(there.lib, soc="rk3588", budget=64 << 20)
models = ModelManager(port, keep=1, margin=0)
models.add("a", there.path("two"))
models.add("b", there.path("segment" if version >= MODELS["segment"][2] else "two"))
models.use("a")  # the port counts from here: what the runtime takes once is no growth
first, begin = None, resident()
for i in range(1, switches):
    models.use("ab"[i % 2])
    if first is None and port.warnings():
        first = i
said = float(port.warnings()[0].split("costs ")[1].split()[0])
tell(first, said, (resident() - begin) / (switches - 1))
sys.stdout.flush()
os._exit(0)
