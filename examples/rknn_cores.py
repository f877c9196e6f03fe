# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One model on every core of a Rockchip NPU, on one set of weights (RK3588: three cores).

Put your own detect.rknn beside this file. Each core has a context of its own; a frame goes to the
next that is free, and results come in the order of the frames.
"""

import queue
from concurrent.futures import ThreadPoolExecutor

import maixmem
import maixmem_rknn

MODEL = "detect.rknn"
CORES = (0, 1, 2)  # RK3576: (0, 1)


def load(port):
    """The model on the first core and its duplicates on the others; what each takes is printed."""
    models = []
    for core in CORES:
        before = port.used
        if models:
            models.append(port.dup(models[0], cores=core))
        else:
            models.append(port.load(MODEL, dup=True, cores=core))
        print("core {}: {} bytes".format(core, port.used - before))
    return models


def frames(model, count):
    """What a camera gives: the bytes of each input."""
    for _ in range(count):
        yield [bytes(tensor.nbytes) for tensor in model.inputs]


port = maixmem.set_port(maixmem_rknn.Port())
with port:  # unloads all at the end, duplicates first
    models = load(port)
    idle = queue.SimpleQueue()
    for model in models:
        idle.put(model)

    def run(frame):
        model = idle.get()
        try:
            return model.run(*frame)
        finally:
            idle.put(model)

    with ThreadPoolExecutor(len(models)) as pool:
        for number, outputs in enumerate(pool.map(run, frames(models[0], 12))):
            print("frame {}: {} bytes".format(number, sum([len(data) for data in outputs])))
print("left: {} bytes".format(port.used))
