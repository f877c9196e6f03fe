# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Builds valid V3 and V4 kmodels from a short description, so that tests need no foreign files.

    m = v3((28, 28, 1), [("conv", 16), ("conv", 10), ("dequantize",), ("softmax",)])
    m = v4((320, 240, 3), [("conv", 24), ("conv", 35), ("dequantize",)], constants=4096)
    m.to_bytes(); m.read(offset, n); m.write(stream); swapped(m).to_bytes()

A shape is (width, height, channels); each layer works on what the layer before it left. Layers, with options in a dict at the end:
    ("conv", channels, {"kernel": 3, "depthwise": False, "halve": False, "to_main": True for the last one in a row})   on the KPU
    ("gap",) ("fc", n) ("flatten",) ("softmax",) ("logistic",) ("l2",) ("quantize",) ("dequantize",) ("resize", w, h)    on the CPU (V4: all but fc, flatten, l2, gap)
    ("raw", type, body_size)                                                                                               any type, a body of zeros
"""
import struct

V3, V4 = 3, 4
LINES = 32768                                           # 64-byte lines of KPU RAM
CONV3, CONV4 = 10240, 0x2002
_ACT = 144                                              # bytes of an activation table


class Built:
    """A model as a sparse file: a few parts of real bytes, zeros between them. It costs what its headers cost, whatever the weights weigh.

    Owns `parts` ([(offset, bytes)], ascending). What a reader has to find is in plain attributes: version, nbytes (the walk), size (the file: short or
    longer than the walk), layers, main_mem, largest_body, header_bytes (where the bodies begin), max_start (V3), inputs, outputs ([bytes]), types.
    read() allocates the bytes it returns; a read past the end is short."""

    def __init__(self, **facts):
        self.parts = []
        self.swap = False
        for name in facts:
            setattr(self, name, facts[name])

    def put(self, offset, data):
        self.parts.append((offset, data))

    def read(self, offset, n):
        n = max(0, min(n, self.size - offset))
        if self.swap:
            first = offset & ~3
            whole = swap_words(self._plain(first, (offset + n - first + 3) & ~3))
            return bytes(whole[offset - first:offset - first + n])
        return bytes(self._plain(offset, n))

    def _plain(self, offset, n):
        out = bytearray(n)
        for at, data in self.parts:
            low, high = max(at, offset), min(at + len(data), offset + n)
            if low < high:
                out[low - offset:high - offset] = data[low - at:high - at]
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
    """The same model as kpu.load_flash wants it in flash. A size that is no multiple of 4 is rounded up."""
    twin = Built()
    for name in ("version", "nbytes", "layers", "main_mem", "largest_body", "header_bytes", "max_start", "inputs", "outputs", "types"):
        setattr(twin, name, getattr(model, name))
    twin.parts, twin.swap, twin.size = model.parts, not model.swap, (model.size + 3) & ~3
    return twin


def _up(n, to):
    return (n + to - 1) // to * to


def _words(*values):
    return struct.pack("<%dI" % len(values), *values)


def _kpu_lines(w, h, c):
    """64-byte lines that a feature map takes in KPU RAM: narrow maps share a line between channels."""
    if w > 32:
        return _up(w, 64) // 64 * h * c
    return h * _up(c, 4 if w <= 16 else 2) // (4 if w <= 16 else 2)


class _Conv:
    """One KPU convolution: its shapes, its register block and the sizes of its tables."""

    def __init__(self, shape, channels, options):
        self.w, self.h, self.ic = shape
        self.oc, self.kernel, self.depthwise = channels, options.get("kernel", 3), options.get("depthwise", False)
        if self.kernel not in (1, 3) or self.depthwise and self.oc != self.ic:
            raise ValueError("a KPU convolution is 1x1 or 3x3, and depthwise keeps its channels")
        if not 1 <= self.ic <= 1024 or not 1 <= self.oc <= 1024 or not 1 <= self.w <= 512 or not 1 <= self.h <= 512:
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
        """The 96-byte register block. V4 keeps three counts of padding bytes where V3 has nothing of use."""
        r = [0] * 24
        r[0] = 8 if self.depthwise else 0
        r[2], r[3] = self.src, self.dst % LINES
        r[4], r[5] = self.ic - 1, self.oc - 1
        r[6], r[7] = self.w - 1 | (self.h - 1) << 10, self.ow - 1 | (self.oh - 1) << 10
        r[8], r[9] = (1 if self.kernel == 3 else 0) | self.pool << 4, bn
        r[11], r[15] = weights, act
        r[22], r[23] = 1 if to_main else 0, self.ow * self.oh * self.oc if to_main else 0
        return struct.pack("<24I", *r)


class _Plan:
    """What both versions share while layers are laid down: the running shape, the arena, and the list of (type, body at an absolute offset)."""

    def __init__(self, shape):
        self.shape = shape
        self.width = 1                                  # bytes an element has now
        self.address = 0                                # where the current data is in the arena
        self.arena = 0
        self.lowest = LINES
        self.flip = False
        self.bodies = []                                # (type, function(absolute offset) -> [(relative offset, bytes)], size)

    def count(self):
        return self.shape[0] * self.shape[1] * self.shape[2]

    def take(self, nbytes):
        at, self.arena = self.arena, self.arena + _up(nbytes, 8)
        return at

    def kpu(self, channels, options):
        conv = _Conv(self.shape, channels, options)
        self.lowest = min(self.lowest, conv.place(self.flip))
        self.flip = not self.flip
        self.shape = conv.shape
        return conv


def _layers_of(description):
    """[(name, arguments, options)], with "to_main" worked out: a convolution hands over to main memory when no convolution follows."""
    layers = []
    for i, layer in enumerate(description):
        args = [a for a in layer[1:] if not isinstance(a, dict)]
        options = dict(layer[-1]) if isinstance(layer[-1], dict) else {}
        follows = description[i + 1][0] if i + 1 < len(description) else None
        options.setdefault("to_main", follows != "conv")
        layers.append((layer[0], args, options))
    return layers


def _finish(model, plan, at, options):
    """Layer headers at `at`, then the bodies, each padded to 8 in the file; sets the model's facts. short: leave the last pad out, as some compilers do."""
    start = at + 8 * len(plan.bodies)
    offset, heads = start, b""
    model.types, model.largest_body, pad = [], 0, 0
    for kind, make, exact in plan.bodies:
        if callable(exact):
            exact = exact(offset)
        end = _up(offset + exact, 8)
        for place, data in make(offset):
            model.put(offset + place, data)
        heads += _words(kind, end - offset)
        model.types.append(kind)
        model.largest_body = max(model.largest_body, end - offset)
        pad, offset = end - offset - exact, end
    model.put(at, heads)
    model.header_bytes, model.nbytes, model.layers = start, offset, len(plan.bodies)
    model.size = offset - (pad if options.get("short") else 0) + options.get("trailing", 0)
    return model


def _arena_size(plan, main_mem):
    if main_mem is None:
        return plan.arena
    if main_mem < plan.arena:
        raise ValueError("the layers use %d bytes of main memory, more than %d" % (plan.arena, main_mem))
    return main_mem


# ---------------------------------------------------------------- V3

def _conv3_places(conv, offset):
    """Where the four parts of a V3 convolution body lie, relative to it; the aligned ones are aligned in the file."""
    layer = _up(offset + 24, 8) - offset
    weights = _up(offset + layer + 96, 128) - offset
    bn = _up(offset + weights + conv.weights, 128) - offset
    act = _up(offset + bn + conv.bn, 256) - offset
    return layer, weights, bn, act


def _conv3(plan, channels, options):
    conv = plan.kpu(channels, options)
    to_main = options["to_main"]
    plan.address = plan.take(plan.count()) if to_main else 0
    plan.width = 1
    out = plan.address

    def make(offset):
        layer, weights, bn, act = _conv3_places(conv, offset)
        head = _words(1 if to_main else 0, out, offset + layer, offset + weights, offset + bn, offset + act)
        return [(0, head), (layer, conv.registers(to_main))]

    plan.bodies.append((CONV3, make, lambda offset: _conv3_places(conv, offset)[3] + _ACT))


def _simple(plan, kind, fields, size=None):
    plan.bodies.append((kind, lambda offset: [(0, fields)], len(fields) if size is None else size))


def _step(plan, shape, width):
    """Moves on to a new shape and element width; returns (input address, output address)."""
    source = plan.address
    plan.shape, plan.width = shape, width
    plan.address = plan.take(plan.count() * width)
    return source, plan.address


def _cpu3(plan, name, args):
    w, h, c = plan.shape
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
        _simple(plan, 11 if name == "quantize" else 12, _words(0, a, b, w * h * c) + struct.pack("<2f", 1.0, 0.0))
    elif name == "resize":
        wide = plan.width
        a, b = _step(plan, (args[0], args[1], c), wide)
        _simple(plan, 22 if wide == 4 else 23, _words(0, a, b, w, h, c, args[0], args[1], 0))
    else:
        raise ValueError("no V3 layer " + name)


def v3(shape, description, main_mem=None, outputs=1, max_start=None, arch=0, flags=1, **options):
    """A V3 model. Several outputs are copies of the last one. Options: short, trailing (bytes)."""
    plan = _Plan(shape)
    if description[0][0] != "conv":
        plan.width = 4
        plan.take(plan.count() * 4)
    for name, args, opts in _layers_of(description):
        if name == "conv":
            _conv3(plan, args[0], opts)
        elif name == "raw":
            _simple(plan, args[0], b"", args[1])
        else:
            _cpu3(plan, name, args)
    if not plan.arena:
        plan.take(plan.count() * plan.width)
    low = plan.lowest if max_start is None else max_start
    model = Built(version=V3, main_mem=_arena_size(plan, main_mem), max_start=low)
    model.inputs, model.outputs = [shape], [plan.count() * plan.width] * outputs
    at = 28 + 8 * outputs
    model.put(0, _words(V3, flags, arch, len(plan.bodies), low, model.main_mem, outputs) + _words(plan.address, model.outputs[0]) * outputs)
    return _finish(model, plan, at, options)


# ---------------------------------------------------------------- V4

_FLOAT, _BYTE = 0, 1
_MAIN, _KPU = 1, 2


def _range(memory, kind, start, size):
    return _words(memory, kind, start, size)


def _conv4(plan, channels, options):
    conv = plan.kpu(channels, options)
    to_main = options["to_main"]
    plan.width, plan.memory = 1, _MAIN if to_main else _KPU
    plan.address = plan.take(plan.count()) if to_main else 0
    out = _range(_MAIN, _BYTE, plan.address, plan.count() if to_main else 0)

    def gaps(offset):
        """(pad, tables' place) thrice: bn and weights 128-aligned, act 256-aligned in the file."""
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
    size = 64 * _kpu_lines(w, h, c)
    source = _range(_MAIN, _BYTE, plan.address, plan.count())
    plan.memory, plan.address = _KPU, 0
    _simple(plan, 0x2001, source + _range(_KPU, _BYTE, 0, size) + _words(1, c, h, w))


def _cpu4(plan, name, args):
    w, h, c = plan.shape
    n = plan.count()
    out_shape, out_width = plan.shape, plan.width
    if name in ("quantize", "dequantize"):
        out_width = 1 if name == "quantize" else 4
    elif name == "resize":
        out_shape = (args[0], args[1], c)
    source_size, source_kind = n * plan.width, _FLOAT if plan.width == 4 else _BYTE
    a, b = _step(plan, out_shape, out_width)
    ranges = _range(_MAIN, source_kind, a, source_size) + _range(_MAIN, _FLOAT if out_width == 4 else _BYTE, b, plan.count() * out_width)
    if name in ("quantize", "dequantize"):
        _simple(plan, 6 if name == "quantize" else 3, ranges + struct.pack("<if", 0, 1.0))
    elif name == "softmax":
        _simple(plan, 0xB, ranges + _words(n, 1) + struct.pack("<f", 1.0))
    elif name == "logistic":
        _simple(plan, 0xE, ranges + _words(0))
    elif name == "resize":
        _simple(plan, 0xA, ranges + _words(source_kind, 0, 1, c, h, w, args[0], args[1]))
    else:
        raise ValueError("no V4 layer " + name)


def v4(shape, description, main_mem=None, outputs=1, constants=0, reserved=0xCCCCCCCC, target=1, **options):
    """A V4 model. Options: short, trailing (bytes), inputs (copies of the first one)."""
    plan = _Plan(shape)
    w, h, c = shape
    on_kpu = description[0][0] == "conv"
    plan.width = 1 if on_kpu or description[0][0] in ("upload", "dequantize") else 4
    plan.memory = _KPU if on_kpu else _MAIN
    source = _range(_KPU, _BYTE, 0, 64 * _kpu_lines(w, h, c)) if on_kpu else _range(
        _MAIN, _BYTE if plan.width == 1 else _FLOAT, plan.take(plan.count() * plan.width), plan.count() * plan.width)
    for name, args, opts in _layers_of(description):
        if name == "conv":
            _conv4(plan, args[0], opts)
        elif name == "upload":
            _upload4(plan)
        elif name == "raw":
            _simple(plan, args[0], b"", args[1])
        else:
            _cpu4(plan, name, args)
    inputs = options.get("inputs", 1)
    size = plan.count() * plan.width
    model = Built(version=V4, main_mem=_arena_size(plan, main_mem), max_start=None)
    model.inputs, model.outputs = [shape] * inputs, [size] * outputs
    head = _words(0x4B4D444C, V4, 0, target, constants, model.main_mem, len(plan.bodies), inputs, outputs, reserved)
    model.put(0, head + source * inputs + _words(1, c, h, w) * inputs + _range(_MAIN, _FLOAT if plan.width == 4 else _BYTE, plan.address, size) * outputs)
    return _finish(model, plan, 40 + 32 * inputs + 16 * outputs + constants, options)
