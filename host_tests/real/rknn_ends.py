# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Files over which the runtime ends its process, and damaged ones: inspect() and load() go on.

rknn_ends.py ROOT SEEDS FILE...: each file as it is, where nobody tells the chip, and with some
bytes changed, as each of the SEEDS (0,1,2) has it.
"""

import ctypes
import json
import os
import random
import sys

from rknn_board import Real, tell

sys.path[:0] = [os.path.join(sys.argv[1], "lib")]
import maixmem_rknn  # noqa: E402
from maixmem import KModelError  # noqa: E402
from maixmem_rknn import trial  # noqa: E402

trial.PYTHON = [*json.loads(os.environ["BENCH_PYTHON"]), *trial.PYTHON[1:]]


def damaged(data, seed):
    """Some bytes behind the header are others."""
    chance, changed = random.Random(seed), bytearray(data)
    for _ in range(1 + seed % 4):
        changed[chance.randrange(64, len(changed))] = chance.randrange(256)
    return bytes(changed)


def outcome(port, source):
    try:
        cost = port.inspect(source)
        if not cost.refuse:
            return "told"
        port.load(source)
    except KModelError as e:
        return str(e)


there = Real()
seeds = [int(word) for word in sys.argv[2].split(",")]
for name in sys.argv[3:]:
    with open(os.path.join(os.environ["BENCH"], "models", name), "rb") as f:
        data = f.read()
    port = maixmem_rknn.Port(ctypes.CDLL("librknnrt.so"), budget=64 << 20)
    port.soc = None
    tell(name, outcome(port, data))
    port.soc = "rk3588"
    for seed in seeds:
        tell(name, seed, outcome(port, damaged(data, seed)))
    tell("end", there.live(), there.held(), port.used)
sys.stdout.flush()
os._exit(0)
