# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Two models on a MaixCAM: both stay while there is room, loaded so that they share the most.

Put your own detect.mud and classify.mud with their models beside this file.
"""

import maixmem
from maixmem_models import ModelManager

MODELS = {
    "detect.mud": "YOLOv5",
    "classify.mud": "Classifier",
}  # the class of maix.nn that loads it

port = maixmem.port()
models = ModelManager(port)
for path in port.order(
    list(MODELS)
):  # the largest working memory first: the others then use it too
    models.add(path, path, kind=MODELS[path])
    cost = port.inspect(path, kind=MODELS[path])
    print("{}: {} bytes of cmm ({})".format(path, cost.need["cmm"], cost.certainty))
    models.use(path)

frame = port.new_image(320, 240)
for _ in range(3):
    for path, kind in MODELS.items():
        net = models.use(path)  # loads it again if it had to go
        found = net.detect(frame) if kind == "YOLOv5" else net.classify(frame)
        print("{}: {} results".format(path, len(found)))

maixmem.report()
models.status()
models.release_all()
