# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Model files for the stand-in runtime: the container is the real one, the opaque middle says what the runtime will take."""

import hashlib
import json
import struct

_HEADER = 64


# What the runtime takes for one model, in requested bytes: `weight` and `internal` are what it reports, `regs` the
# registers of a context, `blob` what it keeps of a model loaded from a buffer, `outside` what it keeps besides the
# external weights under MEM_ALLOC_OUTSIDE. Inputs and outputs are (shape, width stride or 0), one byte an element.
class Spec:
    KEYS = (
        "name",
        "weight",
        "internal",
        "regs",
        "blob",
        "outside",
        "inputs",
        "outputs",
        "targets",
    )

    def __init__(self, **values):
        for key in self.KEYS:
            setattr(self, key, values[key])


# The two models that were measured on librknnrt 1.5.2. Of the small one only the page-rounded size of `regs`, `blob` and
# the sum of `outside` is known; its inputs and outputs, and those of the other, are of our own choosing.
MEASURED = {
    "segment": (
        2738961,
        dict(weight=1572288, internal=3022848, regs=68880, blob=2343488, outside=[636480, 66048],
             inputs=[[[1, 192, 192, 3], 0]], outputs=[[[1, 2, 192, 192], 0]]),
    ),
    "multi": (
        31628,
        dict(weight=4864, internal=1114112, regs=4096, blob=20480, outside=[16384],
             inputs=[[[1, 60, 60, 3], 64], [[1, 64, 64, 1], 0]], outputs=[[[1, 1000], 0]]),
    ),
}  # fmt: skip


def build(name, nbytes=0, targets=("rk3588",), version=6, **values):
    """A model file of exactly `nbytes` (0: as small as it can be) for the stand-in runtime."""
    spec = dict(values, name=name, targets=list(targets))
    tail = json.dumps({"target_platform": list(targets), "name": name}).encode()
    body = json.dumps(spec).encode()
    spare = max(0, nbytes - _HEADER - len(body) - 8 - len(tail))
    body += b" " * spare
    head = b"RKNN\0\0\0\0" + struct.pack("<QQ", version, len(body))
    return head.ljust(_HEADER, b"\0") + body + struct.pack("<Q", len(tail)) + tail


def measured(name, targets=("rk3588",)):
    """One of the two measured models, its file as long as the real one."""
    nbytes, values = MEASURED[name]
    return build(name, nbytes, targets, **values)


def parse(data):
    """The Spec of a model file, or None when the runtime would call the model invalid."""
    if len(data) < _HEADER or data[:4] != b"RKNN":
        return None
    length = struct.unpack_from("<Q", data, 16)[0]
    try:
        return Spec(**json.loads(data[_HEADER : _HEADER + length].decode()))
    except (ValueError, KeyError, TypeError):
        return None


def sizes(tensor):
    """(elements, bytes, bytes with stride) of one input or output."""
    shape, stride = tensor
    count = 1
    for n in shape:
        count *= n
    wide = count // shape[2] * stride if stride else count
    return count, count, wide


def answer(spec, index, inputs):
    """What output `index` holds after a run: it depends on the model and on every input byte."""
    digest = hashlib.sha256(("%s/%d" % (spec.name, index)).encode())
    for data in inputs:
        digest.update(data)
    nbytes = sizes(spec.outputs[index])[2]
    return (digest.digest() * (nbytes // 32 + 1))[:nbytes]
