# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Model files for the stand-in runtime: the container is the real one, the opaque middle says what
the runtime will take."""

import hashlib
import json
import struct

_HEADER = 64
_SEVERAL = struct.pack("<I", 13) + b"dynamic_shape\0"  # in the graph of a model for several shapes


# What the runtime takes for one model, in requested bytes: `weight` and `internal` are what it
# reports, `regs` the registers of a context (one request or several), `blob` what it keeps of a
# model loaded from a buffer, `outside` what it keeps besides the external weights under
# MEM_ALLOC_OUTSIDE; of containers before the fourth that is not in the sum that it reports, and
# duplicates share it. Inputs and outputs are (shape, width stride or 0) or (shape, stride, fields)
# with the fields of rknn_tensor_attr that are not int8, NHWC, scale 1, zero point -128 (outputs:
# NCHW, 0).
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
        "version",
    )

    def __init__(self, **values):
        for key in self.KEYS:
            setattr(self, key, values[key])
        # of a model for several resolutions: for each the (inputs, outputs) that it has then, the
        # first as above
        self.shapes = values.get("shapes", [])

    def at(self, choice):
        """The model with the inputs and outputs of its n-th resolution."""
        values = {key: getattr(self, key) for key in self.KEYS}
        values["inputs"], values["outputs"] = self.shapes[choice]
        return Spec(shapes=self.shapes, **values)

    def counted(self):
        """False for a file of the older toolkits, of which the runtime's sum of bytes leaves
        something out."""
        return self.version & 0xFF >= 4


def _picture(n):
    image = [[1, n, n, 3], n, {"scale": 0.0039061899296939373}]
    half = {"zp": 9, "scale": 0.006844353396445513, "wide": 4 * n * n}
    return [image], [[[1, 8, n // 2, n // 2], 0, half]]


def _pair(m, n):
    half = {"type": 1, "zp": 0}
    inputs = [[[1, m, m, 3], m, half], [[1, n, n, 4], n, half]]
    return inputs, [[[1, 8, m, m], 0, half], [[1, 8, n, n], 0, half]]


_PICTURES = [_picture(n) for n in (128, 96, 64)]
_PAIRS = [_pair(*sides) for sides in ((32, 96), (64, 32), (16, 48))]

# The models that were measured on librknnrt. Of the small one only the page-rounded size of
# `regs`, `blob` and the sum of `outside` is known; its inputs and outputs are of our own choosing.
MEASURED = {
    "segment": (
        2738961,
        dict(weight=1572288, internal=3022848, regs=68880, blob=2343488, outside=[636480, 66048],
             inputs=[[[1, 192, 192, 3], 192, {"zp": 0, "scale": 1 / 127.5}]],
             outputs=[[[1, 192, 192], 0, {"type": 8, "fmt": 3}]]),
    ),
    "multi": (
        31628,
        dict(weight=4864, internal=1114112, regs=4096, blob=20480, outside=[16384],
             inputs=[[[1, 60, 60, 3], 64], [[1, 64, 64, 1], 0]], outputs=[[[1, 1000], 0]]),
    ),
    # the model of the same name for RKNN-Toolkit2 1.5, with everything that librknnrt says of it
    "multi_1.5": (
        29772,
        dict(weight=5248, internal=1114112, regs=[17664, 840], blob=18816, outside=[13568],
             version=2,
             inputs=[[[1, 128, 128, 1], 128], [[1, 128, 128, 3], 128]],
             outputs=[[[1, 8, 128, 128], 0,
                       {"zp": 20, "scale": 4.142370223999023, "wide": 262144}]]),
    ),
    # these two were converted for several shapes by RKNN-Toolkit2 2.2.0; `weight` is what 1.6.0
    # says, 1.5.2 says less
    "shapes": (
        79941,
        dict(weight=11136, internal=704512, regs=[680] * 3, blob=54336, outside=[13696] * 3,
             shapes=_PICTURES, inputs=_PICTURES[0][0], outputs=_PICTURES[0][1]),
    ),
    "shapes_two": (
        78507,
        dict(weight=8448, internal=407552, regs=[680] * 3, blob=46656, outside=[12032] * 3,
             shapes=_PAIRS, inputs=_PAIRS[0][0], outputs=_PAIRS[0][1]),
    ),
}  # fmt: skip


def build(name, nbytes=0, targets=("rk3588",), version=6, **values):
    """A model file of exactly `nbytes` (0: as small as it can be) for the stand-in runtime."""
    spec = dict(values, name=name, targets=list(targets), version=version)
    tail = json.dumps({"target_platform": list(targets), "name": name}).encode()
    body = json.dumps(spec).encode()
    spare = max(0, nbytes - _HEADER - len(body) - 8 - len(tail))
    body += b" " * spare
    head = b"RKNN\0\0\0\0" + struct.pack("<QQ", version, len(body))
    if spec.get("shapes"):
        head += _SEVERAL
    return head.ljust(_HEADER, b"\0") + body + struct.pack("<Q", len(tail)) + tail


def measured(name, targets=("rk3588",)):
    """One of the measured models, its file as long as the real one."""
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


ITEMS = (4, 2, 1, 1, 2, 2, 4, 4, 8, 1)  # bytes of an element, by rknn_tensor_type
INT8, UINT8 = 2, 3


def fields(tensor):
    """The fields of an input or output that are not as usual."""
    return tensor[2] if len(tensor) > 2 else {}


def nchw(shape):
    """The same shape with the channels in front."""
    return [shape[0], shape[3], *shape[1:3]]


def sizes(tensor):
    """(elements, bytes, bytes with stride) of one input or output, as queried."""
    shape, stride = tensor[:2]
    count = 1
    for n in shape:
        count *= n
    item = ITEMS[fields(tensor).get("type", INT8)]
    wide = count // shape[2] * stride if stride else count
    return count, count * item, fields(tensor).get("wide", wide * item)


def memory(tensor, kind):
    """Bytes of an input's memory when it is given as `kind`, a rknn_tensor_type: rows padded."""
    shape, stride = tensor[:2]
    count = sizes(tensor)[0]
    return (count // shape[2] * stride if stride else count) * ITEMS[kind]


def answer(spec, index, inputs, kind=INT8):
    """What output `index` holds after a run, as `kind`: it depends on the model and on every input
    byte."""
    digest = hashlib.sha256(("%s/%d" % (spec.name, index)).encode())
    for data in inputs:
        digest.update(data)
    nbytes = sizes(spec.outputs[index])[0] * ITEMS[kind]
    return (digest.digest() * (nbytes // 32 + 1))[:nbytes]
