# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Builds valid V3 and V4 kmodels from a short description: tests need no foreign files.

    m = v3((28, 28, 1), [("conv", 16), ("conv", 10), ("dequantize",), ("softmax",)])
    m = v4((320, 240, 3), [("conv", 24), ("conv", 35), ("dequantize",)], constants=4096)
    m.to_bytes(); m.read(offset, n); m.write(stream); swapped(m).to_bytes()

A shape is (width, height, channels); a layer works on what the layer before it left. Layers:
    ("conv", channels)  on the KPU; may end in a dict of kernel (3), depthwise, halve, to_main
    ("fc", n) ("gap",) ("flatten",) ("l2",)  V3 only        ("upload",)  V4 only
    ("softmax",) ("logistic",) ("quantize",) ("dequantize",) ("resize", w, h)
    ("raw", type, body_size)  any type, with a body of zeros
"""

import struct

V3, V4 = 3, 4
LINES = 32768  # 64-byte lines of KPU RAM
CONV3, CONV4 = 10240, 0x2002
_ACT = 144  # bytes of an activation table


# Owns `parts`, [(offset, bytes)] with zeros between them. What a reader has to find is in plain
# attributes: version, nbytes (the walk), size (the file: short of the walk or longer), layers,
# main_mem, largest_body, header_bytes (where bodies begin), max_start (V3), inputs (shapes),
# outputs (bytes each) and types. read() allocates the bytes it returns and is short at the end.
class Built:
    """A model as a sparse file: it costs what its headers cost, whatever the weights weigh."""

    FACTS = (
        "version nbytes layers main_mem largest_body header_bytes max_start inputs outputs types"
    )

    def __init__(self, version):
        self.version = version
        self.parts = []
        self.swap = False

    def put(self, offset, data):
        self.parts.append((offset, data))

    def read(self, offset, n):
        n = max(0, min(n, self.size - offset))
        if self.swap:
            first = offset & ~3
            whole = swap_words(self._plain(first, (offset + n - first + 3) & ~3))
            return bytes(whole[offset - first : offset - first + n])
        return bytes(self._plain(offset, n))

    def _plain(self, offset, n):
        out = bytearray(n)
        for at, data in self.parts:
            low, high = max(at, offset), min(at + len(data), offset + n)
            if low < high:
                out[low - offset : high - offset] = data[low - at : high - at]
        return out

    def to_bytes(self):
        return self.read(0, self.size)

    def write(self, stream, piece=4096):
        for offset in range(0, self.size, piece):
            stream.write(self.read(offset, min(piece, self.size - offset)))


def swap_words(data):
    """Every 32-bit word byte-reversed; data is padded with zeros to whole words."""
    n = (len(data) + 3) // 4
    data = bytes(data) + bytes(4 * n - len(data))
    out = bytearray(4 * n)
    for i in range(0, 4 * n, 4):
        for k in range(4):
            out[i + k] = data[i + 3 - k]
    return out


def swapped(model):
    """The same model as kpu.load_flash wants it in flash, its size rounded up to whole words."""
    twin = Built(model.version)
    for name in Built.FACTS.split():
        setattr(twin, name, getattr(model, name))
    twin.parts, twin.swap, twin.size = model.parts, not model.swap, (model.size + 3) & ~3
    return twin


def _up(n, to):
    return (n + to - 1) // to * to


def _words(*values):
    return struct.pack("<%dI" % len(values), *values)


def _kpu_lines(w, h, c):
    """64-byte lines of a feature map in KPU RAM: channels of narrow maps share lines."""
    if w > 32:
        return _up(w, 64) // 64 * h * c
    return h * _up(c, 4 if w <= 16 else 2) // (4 if w <= 16 else 2)


class _Conv:
    """One KPU convolution: its shapes, its register block and the sizes of its tables."""

    def __init__(self, shape, channels, options):
        self.w, self.h, self.ic = shape
        self.oc, self.kernel, self.depthwise = (
            channels,
            options.get("kernel", 3),
            options.get("depthwise", False),
        )
        if self.kernel not in (1, 3) or (self.depthwise and self.oc != self.ic):
            raise ValueError("a KPU convolution is 1x1 or 3x3, and depthwise keeps its channels")
        if (
            not 1 <= self.ic <= 1024
            or not 1 <= self.oc <= 1024
            or not 1 <= self.w <= 512
            or not 1 <= self.h <= 512
        ):
            raise ValueError("a KPU feature map is 1..512 by 1..512 by 1..1024")
        half = options.get("halve", False)
        self.ow, self.oh = (self.w // 2, self.h // 2) if half else (self.w, self.h)
        self.pool = 1 if half else 0
        self.weights = self.oc * self.kernel * self.kernel * (1 if self.depthwise else self.ic)
        self.bn = 8 * self.oc
        self.shape = (self.ow, self.oh, self.oc)

    def place(self, flip):
        """Input at one end of KPU RAM, output at the other; returns the lowest line in use."""
        lines = _kpu_lines(self.w, self.h, self.ic), _kpu_lines(*self.shape)
        if lines[0] + lines[1] > LINES:
            raise ValueError("feature maps of %d and %d lines do not fit KPU RAM" % lines)
        self.src, self.dst = (0, LINES - lines[1]) if flip else (LINES - lines[0], 0)
        return min(self.src, self.dst)

    def registers(self, to_main, bn=0, act=0, weights=0):
        """The 96-byte register block; V4 keeps counts of padding bytes in three registers."""
        r = [0] * 24
        r[0] = 8 if self.depthwise else 0
        r[2], r[3] = self.src, self.dst % LINES
        r[4], r[5] = self.ic - 1, self.oc - 1
        r[6], r[7] = self.w - 1 | (self.h - 1) << 10, self.ow - 1 | (self.oh - 1) << 10
        r[8], r[9] = (1 if self.kernel == 3 else 0) | self.pool << 4, bn
        r[11], r[15] = weights, act
        r[22], r[23] = 1 if to_main else 0, self.ow * self.oh * self.oc if to_main else 0
        return struct.pack("<24I", *r)


# `bodies` is a list of (type, make, size): make(offset) gives [(relative offset, bytes)] of a body
# that begins at that offset of the file (None: all zeros), and size is its length or a function of
# that offset.
class _Plan:
    """A model while its layers are laid down: the running shape, the arena, the bodies."""

    def __init__(self, shape, width):
        self.shape = shape
        self.width = width  # bytes an element has now
        self.address = 0  # where the current data is in the arena
        self.arena = 0
        self.lowest = LINES
        self.flip = False
        self.bodies = []

    def nbytes(self):
        return self.shape[0] * self.shape[1] * self.shape[2] * self.width

    def take(self, nbytes):
        at, self.arena = self.arena, self.arena + _up(nbytes, 8)
        return at

    def kpu(self, channels, options, to_main):
        conv = _Conv(self.shape, channels, options)
        self.lowest = min(self.lowest, conv.place(self.flip))
        self.flip = not self.flip
        self.shape, self.width = conv.shape, 1
        self.address = self.take(self.nbytes()) if to_main else 0
        return conv


def _lay(plan, description, conv, cpu):
    for i, layer in enumerate(description):
        options = layer[-1] if isinstance(layer[-1], dict) else {}
        if layer[0] == "conv":
            follows = i + 1 < len(description) and description[i + 1][0] == "conv"
            conv(plan, layer[1], options, options.get("to_main", not follows))
        elif layer[0] == "raw":
            plan.bodies.append((layer[1], None, layer[2]))
        else:
            cpu(plan, layer[0], layer[1:])


def _finish(model, plan, at, options):
    """Layer headers at `at`, then the bodies, each padded to 8 in the file; sets the facts."""
    start = at + 8 * len(plan.bodies)
    offset, heads = start, bytearray()
    model.types, model.largest_body, pad = [], 0, 0
    for kind, make, exact in plan.bodies:
        if callable(exact):
            exact = exact(offset)
        end = _up(offset + exact, 8)
        for place, data in make(offset) if make else ():
            model.put(offset + place, data)
        heads.extend(_words(kind, end - offset))
        model.types.append(kind)
        model.largest_body = max(model.largest_body, end - offset)
        pad, offset = end - offset - exact, end
    model.put(at, bytes(heads))
    model.header_bytes, model.nbytes, model.layers = start, offset, len(plan.bodies)
    model.size = offset - (pad if options.get("short") else 0) + options.get("trailing", 0)
    return model


def _arena_size(plan, options):
    main_mem = options.get("main_mem", plan.arena)
    if main_mem < plan.arena:
        raise ValueError("the layers use %d bytes, more than %d" % (plan.arena, main_mem))
    return main_mem


# ---------------------------------------------------------------- V3


def _conv3_places(conv, offset):
    """Where the parts of a V3 convolution body lie: they are aligned in the file."""
    layer = _up(offset + 24, 8) - offset
    weights = _up(offset + layer + 96, 128) - offset
    bn = _up(offset + weights + conv.weights, 128) - offset
    act = _up(offset + bn + conv.bn, 256) - offset
    return layer, weights, bn, act


def _conv3(plan, channels, options, to_main):
    conv = plan.kpu(channels, options, to_main)
    out = plan.address

    def make(offset):
        layer, weights, bn, act = _conv3_places(conv, offset)
        head = _words(
            1 if to_main else 0, out, offset + layer, offset + weights, offset + bn, offset + act
        )
        return [(0, head), (layer, conv.registers(to_main))]

    plan.bodies.append((CONV3, make, lambda offset: _conv3_places(conv, offset)[3] + _ACT))


def _simple(plan, kind, fields, size=None):
    plan.bodies.append((kind, lambda offset: [(0, fields)], len(fields) if size is None else size))


def _step(plan, shape, width):
    """Moves on to a new shape and element width; returns (input address, output address)."""
    source = plan.address
    plan.shape, plan.width = shape, width
    plan.address = plan.take(plan.nbytes())
    return source, plan.address


def _cpu3(plan, name, args):
    w, h, c = plan.shape
    if name != "resize" and plan.width != (1 if name == "dequantize" else 4):
        raise ValueError("%s after data of %d bytes an element" % (name, plan.width))
    if name == "fc":
        n = w * h * c
        a, b = _step(plan, (1, 1, args[0]), 4)
        _simple(plan, 18, _words(0, a, b, n, args[0], 0), 24 + 4 * n * args[0] + 4 * args[0])
    elif name == "gap":
        a, b = _step(plan, (1, 1, c), 4)
        _simple(plan, 5, _words(0, a, b, w * h, c))
    elif name == "flatten":
        a, b = _step(plan, (1, 1, w * h * c), 4)
        _simple(plan, 20, _words(0, a, b, w, h, c))
    elif name in ("softmax", "logistic", "l2"):
        a, b = _step(plan, plan.shape, 4)
        _simple(plan, {"l2": 14, "softmax": 15, "logistic": 25}[name], _words(0, a, b, w * h * c))
    elif name in ("quantize", "dequantize"):
        a, b = _step(plan, plan.shape, 1 if name == "quantize" else 4)
        scale = struct.pack("<2f", 1.0, 0.0)
        _simple(plan, 11 if name == "quantize" else 12, _words(0, a, b, w * h * c) + scale)
    elif name == "resize":
        wide = plan.width
        a, b = _step(plan, (args[0], args[1], c), wide)
        _simple(plan, 22 if wide == 4 else 23, _words(0, a, b, w, h, c, args[0], args[1], 0))
    else:
        raise ValueError("no V3 layer " + name)


def v3(shape, description, **options):
    """A V3 model. Options: main_mem, outputs (how many), max_start, arch, flags, short,
    trailing."""
    plan = _Plan(shape, 1 if description[0][0] == "conv" else 4)
    if plan.width == 4:
        plan.take(plan.nbytes())
    _lay(plan, description, _conv3, _cpu3)
    if not plan.arena:
        plan.take(plan.nbytes())
    model = Built(V3)
    model.main_mem = _arena_size(plan, options)
    model.max_start = options.get("max_start", plan.lowest)
    outputs = options.get("outputs", 1)
    model.inputs, model.outputs = [shape], [plan.nbytes()] * outputs
    counts = (len(plan.bodies), model.max_start, model.main_mem, outputs)
    head = _words(V3, options.get("flags", 1), options.get("arch", 0), *counts)
    model.put(0, head + _words(plan.address, plan.nbytes()) * outputs)
    return _finish(model, plan, 28 + 8 * outputs, options)


# ---------------------------------------------------------------- V4

_FLOAT, _BYTE = 0, 1
_MAIN, _KPU = 1, 2


def _here(plan):
    """The memory range of the current data."""
    return _words(_MAIN, _FLOAT if plan.width == 4 else _BYTE, plan.address, plan.nbytes())


def _conv4(plan, channels, options, to_main):
    conv = plan.kpu(channels, options, to_main)
    out = _here(plan) if to_main else _words(_MAIN, _BYTE, 0, 0)

    def gaps(offset):
        """Where bn, act and weights lie, aligned in the file."""
        bn = _up(offset + 120, 128) - offset
        act = _up(offset + bn + conv.bn, 256) - offset
        weights = _up(offset + act + _ACT, 128) - offset
        return bn, act, weights

    def make(offset):
        bn, act, weights = gaps(offset)
        registers = conv.registers(to_main, bn - 120, act - bn - conv.bn, weights - act - _ACT)
        return [(0, out + _words(1, 0) + registers)]

    plan.bodies.append((CONV4, make, lambda offset: gaps(offset)[2] + conv.weights))


def _upload4(plan):
    w, h, c = plan.shape
    source = _here(plan)
    kpu = _words(_KPU, _BYTE, 0, 64 * _kpu_lines(w, h, c))
    _simple(plan, 0x2001, source + kpu + _words(1, c, h, w))


def _cpu4(plan, name, args):
    if name == "upload":
        return _upload4(plan)
    w, h, c = plan.shape
    shape, width, source = plan.shape, plan.width, _here(plan)
    if name in ("quantize", "dequantize"):
        width = 1 if name == "quantize" else 4
    elif name == "resize":
        shape = (args[0], args[1], c)
    _step(plan, shape, width)
    ranges = source + _here(plan)
    if name in ("quantize", "dequantize"):
        _simple(plan, 6 if name == "quantize" else 3, ranges + struct.pack("<if", 0, 1.0))
    elif name == "softmax":
        _simple(plan, 0xB, ranges + _words(w * h * c, 1) + struct.pack("<f", 1.0))
    elif name == "logistic":
        _simple(plan, 0xE, ranges + _words(0))
    elif name == "resize":
        _simple(plan, 0xA, ranges + _words(width, 0, 1, c, h, w, args[0], args[1]))
    else:
        raise ValueError("no V4 layer " + name)


def v4(shape, description, **options):
    """A V4 model. Options: main_mem, inputs, outputs (how many), constants (bytes), target,
    reserved, short, trailing."""
    first = description[0][0]
    plan = _Plan(shape, 1 if first in ("conv", "upload", "dequantize") else 4)
    w, h, c = shape
    source = _words(_KPU, _BYTE, 0, 64 * _kpu_lines(w, h, c))
    if first != "conv":
        source = _here(plan)
        plan.take(plan.nbytes())
    _lay(plan, description, _conv4, _cpu4)
    model = Built(V4)
    model.main_mem, model.max_start = _arena_size(plan, options), None
    inputs, outputs = options.get("inputs", 1), options.get("outputs", 1)
    constants = options.get("constants", 0)
    model.inputs, model.outputs = [shape] * inputs, [plan.nbytes()] * outputs
    sizes = (constants, model.main_mem, len(plan.bodies), inputs, outputs)
    head = _words(0x4B4D444C, V4, 0, options.get("target", 1), *sizes)
    head += _words(options.get("reserved", 0xCCCCCCCC))
    model.put(0, head + source * inputs + _words(1, c, h, w) * inputs + _here(plan) * outputs)
    return _finish(model, plan, 40 + 32 * inputs + 16 * outputs + constants, options)
