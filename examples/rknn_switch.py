# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Two models on a Rockchip NPU that take turns in one working memory (RK3566, RK3568, RK3588,
RV1106...).

Put your own detect.rknn and classify.rknn beside this file. Both stay loaded; only the memory they
compute in is shared.
"""

import maixmem
import maixmem_rknn
from maixmem_models import ModelManager

MODELS = {"detect": "detect.rknn", "classify": "classify.rknn"}

port = maixmem.set_port(maixmem_rknn.Port())
models = ModelManager(port)
alone = 0
for name, path in MODELS.items():
    models.add(name, path)
    cost = port.inspect(path)
    alone += cost.internal or 0
    print(
        "{}: weights {}, working memory {}, {} of {} bytes in all".format(
            name, cost.weight, cost.internal, cost.certainty, cost.peak["npu"]
        )
    )

for _ in range(3):
    for name in MODELS:
        model = models.use(name).raw
        with model:  # its turn: no other model can run, and views are valid
            for tensor in model.inputs:
                tensor.view()[:] = bytes(tensor.nbytes)  # your camera writes here
            model.execute()
            outputs = [tensor.read() for tensor in model.outputs]  # copied before the turn ends
        print("{}: {} bytes".format(name, sum([len(data) for data in outputs])))

maixmem.report()
print("saved {} bytes of working memory".format(alone - port.arena.size))
models.release_all()
