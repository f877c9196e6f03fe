# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Forecasts beside what the driver gave at most while the load went on: a row is (model, options,
forecast / peak)."""

import os
import sys

from rknn_board import board, tell

there, version = board()
import maixmem_rknn  # noqa: E402
from maixmem import KModelError  # noqa: E402

FILES = ("two_inputs_1.2", "two_inputs_1.5", "two_inputs", "segment", "float16", "shapes")
MEMORY = ({}, {"shared": False}, {"dup": True}, {"dynamic": True})
INPUTS = ({}, {"inputs": "float32"}, {"inputs": "native"})
OUTPUTS = ({}, {"outputs": "float32"})
WAYS = [{**a, **b, **c} for a in MEMORY for b in INPUTS for c in OUTPUTS]
WAYS += [{"cores": 0}, {"sram": True}]


def one(path, how):
    port = maixmem_rknn.Port(there.lib, soc="rk3588", budget=64 << 20)
    cost = port.inspect(path, **how)
    if cost.refuse:
        return
    there.reset()
    port.load(path, **how)
    tell(os.path.basename(path), how, cost.peak["npu"] / there.peak())
    port.close()
    assert there.live() == 0


for name in FILES:
    path = os.path.join(os.environ["BENCH"], "models", f"rk3588_{name}.rknn")
    for how in WAYS if os.path.exists(path) else ():
        try:
            one(path, how)
        except KModelError:
            pass  # newer than the runtime
sys.stdout.flush()
os._exit(0)
