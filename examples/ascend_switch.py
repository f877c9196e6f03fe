# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Two models on an Ascend 310 that take turns in one work memory, on pictures from one block of
DVPP memory.

Put your own detect.om and classify.om beside this file; their input is one 224x224 picture in
YUV420SP.
"""

import maixmem
from maixmem_ascend import DevicePool, Pictures
from maixmem_models import ModelManager

MODELS = {"detect": "detect.om", "classify": "classify.om"}

port = maixmem.port()
port.reserve(list(MODELS.values()))  # one block, as large as the largest needs
models = ModelManager(port)
for name, path in MODELS.items():
    models.add(name, path)
    cost = port.inspect(path)
    print(
        "{}: {} bytes of weights, {} of work memory ({})".format(
            name, cost.weight, cost.work, cost.certainty
        )
    )

frames = Pictures(
    port.memory, 224, 224, "yuv420sp", rule=port.rules["vpc"], count=4
)  # 2 MiB in all, not 8
results = DevicePool(port.memory, 1 << 20)
for _ in range(3):
    frame = frames.acquire()
    port.memory.write(frame, bytes(frame.nbytes))  # your camera or JPEGD writes here
    for name in MODELS:
        model = models.use(name)
        outputs = [results.alloc(n) for n in model.outputs]
        model.run([frame], outputs)
        print("{}: {} bytes".format(name, sum([len(port.memory.read(out)) for out in outputs])))
        for out in outputs:
            results.free(out)
    frames.release(frame)

maixmem.report()
models.release_all()
frames.close()
results.close()
port.close()
