# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Files of the bench, by our port: forecast, load, run, unload. rknn_files.py ROOT FILE..."""

import ctypes
import os
import sys

from rknn_board import Real, tell

sys.path[:0] = [os.path.join(sys.argv[1], "lib")]


def main(names):
    import maixmem_rknn

    there = Real()
    port = maixmem_rknn.Port(ctypes.CDLL("librknnrt.so"), soc="rk3588", budget=64 << 20)
    for name in names:
        tell("begin", name)
        path = os.path.join(os.environ["BENCH"], "models", name)
        try:
            cost = port.inspect(path)
            model = port.load(path)
            live = there.live()
            good = [live <= cost.peak["npu"], live <= port.used]
            try:
                lengths = [
                    len(data) for data in model.run(*[bytes(t.packed) for t in model.inputs])
                ]
                tell("ran", name, good, lengths)
            finally:
                port.unload(model)
        except Exception as e:
            tell(type(e).__name__, name, getattr(e, "code", None))
        tell("end", there.live(), there.held(), port.used)


main(sys.argv[2:])
sys.stdout.flush()
os._exit(0)
