# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Every class of the real maix.nn by our port: what it takes, and that it was constructed with
that or refused by name.

The wheel for desks has no NPU: it refuses all models, after it has taken the arguments. A
TypeError would be ours.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "lib"))


def tell(*values):
    """One row of the result."""
    print("> " + json.dumps(values), flush=True)


def main(model, features):
    import maixmem
    import maixmem_maixcam
    from maix import image, nn
    from maixmem_image import image_bytes
    from maixmem_maixcam.images import MAIXCAM

    port = maixmem.set_port(maixmem_maixcam.Port())
    tell("report", [r["name"] for r in maixmem.report(lambda line: None)["regions"]])
    for name in sorted(dir(nn)):
        if isinstance(getattr(nn, name), type):
            construct(port, nn, name, [model, features])
    for w, h in ((3, 3), (320, 240)):
        for word, known in (("gray", "GRAYSCALE"), ("rgb888", "RGB888"), ("yvu420sp", "YVU420SP")):
            made = image.Image(w, h, getattr(image.Format, "FMT_" + known))
            nbytes = image_bytes(w, h, word, MAIXCAM) - MAIXCAM.extra
            tell("image", word, w, h, made.data_size() == nbytes)


def construct(port, nn, name, paths):
    from maixmem_maixcam.kinds import kind_of

    try:
        kind = kind_of(nn, name)
    except ValueError as e:
        tell("no model", name, str(e)[:60])
        return
    source = paths[: len(kind.models)]
    try:
        port.load(source if len(source) > 1 else source[0], kind=name)
        tell("loaded", name, kind.parameters, kind.sets(None))
    except Exception as e:
        tell(type(e).__name__, name, kind.parameters, kind.sets(None), str(e)[-150:])


main(*sys.argv[2:4])
sys.stdout.flush()
os._exit(0)
