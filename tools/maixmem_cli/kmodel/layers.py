# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What only a desk asks of a V3 or V4 model: every layer, every range, every limit of the KPU.

Uses the walker of the device module: it looks into the bodies that the walker steps over.
Body layouts: the sources of nncase 0.1 and 0.2 and of the Kendryte SDK.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from maixmem_kmodel import KINDS3, File, KModel, identify, limit, walk
from maixmem_kmodel_mem import with_file
from maixmem_kmodel_v4 import KINDS4

KPU_RAM = 2 << 20
_CONV3, _CONV4 = 10240, 0x2002
_ACT = 144
_REGISTERS = 96

Span = tuple[int, int]  #: (address in main memory, bytes)
Words = Sequence[int]


def _same(count: int, *widths: int) -> Callable[[Words], list[Span]]:
    """Spans at words 1, 2, ...: each `count`-th word times its width."""
    return lambda w: [(w[i], w[count] * width) for i, width in enumerate(widths, 1)]


def _maps(width: int, out_channels: int | None = 8) -> Callable[[Words], list[Span]]:
    """Feature maps: input at word 1 with shape at 3..5, output at word 2 with shape at 6.. ."""

    def spans(w: Words) -> list[Span]:
        channels = w[5] if out_channels is None else w[out_channels]
        return [(w[1], w[3] * w[4] * w[5] * width), (w[2], w[6] * w[7] * channels * width)]

    return spans


def _concat(w: Words) -> list[Span]:
    return [*zip(w[3::2], w[4::2]), (w[1], sum(w[4::2]))]


#: V3 layer type -> (name, words of its head, spans of main memory that it reads and writes)
LAYERS3: dict[int, tuple[str, int, Callable[[Words], list[Span]] | None]] = {
    1: ("add", 5, _same(4, 4, 4, 4)),
    2: ("quantized_add", 5, _same(4, 1, 1, 1)),
    3: ("global_max_pool2d", 0, None),
    4: ("quantized_global_max_pool2d", 0, None),
    5: ("global_average_pool2d", 5, lambda w: [(w[1], 4 * w[3] * w[4]), (w[2], 4 * w[4])]),
    6: ("quantized_global_average_pool2d", 0, None),
    7: ("max_pool2d", 0, None),
    8: ("quantized_max_pool2d", 9, _maps(1)),
    9: ("average_pool2d", 9, _maps(4)),
    10: ("quantized_average_pool2d", 0, None),
    11: ("quantize", 4, _same(3, 4, 1)),
    12: ("dequantize", 4, _same(3, 1, 4)),
    13: ("requantize", 4, _same(3, 1, 1)),
    14: ("l2_normalization", 4, _same(3, 4, 4)),
    15: ("softmax", 4, _same(3, 4, 4)),
    16: ("concat", 3, _concat),
    17: ("quantized_concat", 3, _concat),
    18: ("fully_connected", 5, lambda w: [(w[1], 4 * w[3]), (w[2], 4 * w[4])]),
    19: ("quantized_fully_connected", 0, None),
    20: ("tensorflow_flatten", 6, lambda w: [(w[i], 4 * w[3] * w[4] * w[5]) for i in (1, 2)]),
    21: ("quantized_tensorflow_flatten", 0, None),
    22: ("resize_nearest_neighbor", 8, _maps(4, None)),
    23: ("quantized_resize_nearest_neighbor", 8, _maps(1, None)),
    24: (
        "channelwise_dequantize",
        5,
        lambda w: [(w[i], width * w[3] * w[4]) for i, width in ((1, 1), (2, 4))],
    ),
    25: ("logistic", 4, _same(3, 4, 4)),
    10240: ("k210_conv", 6, None),
    10241: ("k210_add_padding", 4, lambda w: [(w[1], w[3])]),
    10242: ("k210_remove_padding", 4, lambda w: [(w[1], 16 * w[3]), (w[2], w[3])]),
    10243: ("k210_upload", 6, lambda w: [(w[1], w[3] * w[4] * w[5])]),
}
#: V4 opcode -> (name, memory ranges at the start of its body); concat counts its own
LAYERS4 = {
    0x00: ("binary", 3),
    0x01: ("concat", 1),
    0x02: ("conv2d", 2),
    0x03: ("dequantize", 2),
    0x04: ("matmul", 3),
    0x05: ("pad", 2),
    0x06: ("quantize", 2),
    0x07: ("reduce", 2),
    0x08: ("reduce_window2d", 2),
    0x09: ("memory_copy", 2),
    0x0A: ("resize_image", 2),
    0x0B: ("softmax", 2),
    0x0C: ("transpose", 2),
    0x0D: ("strided_slice", 2),
    0x0E: ("unary", 2),
    0x0F: ("quantized_conv2d", 2),
    0x10: ("quantized_matmul", 3),
    0x11: ("quantized_binary", 3),
    0x12: ("table_lookup1d", 3),
    0x13: ("conv2d_transpose", 2),
    0x14: ("nnil_unary_method", 2),
    0x1001: ("cpu_conv2d", 2),
    0x1002: ("cpu_depthwise_conv2d", 2),
    0x1003: ("cpu_reduce_window2d", 2),
    0x1004: ("cpu_quantized_conv2d", 2),
    0x1005: ("cpu_quantized_depthwise_conv2d", 2),
    0x2001: ("kpu_upload", 2),
    0x2002: ("kpu_conv2d", 1),
}
_MEMORIES = ("const", "main", "kpu")


@dataclass
class Layer:
    """One layer. `spans` are the bytes of main memory that it reads and writes."""

    index: int
    type: int
    name: str
    offset: int
    size: int
    detail: str = ""
    conv: Conv | None = None
    spans: list[Span] = field(default_factory=list)


@dataclass
class Conv:
    """What the registers of a KPU convolution say."""

    in_w: int
    in_h: int
    in_c: int
    out_w: int
    out_h: int
    out_c: int
    kernel: int
    depthwise: bool
    src: int
    dst: int
    pads: tuple[int, int, int]

    @classmethod
    def parse(cls, registers: bytes) -> Conv:
        r = struct.unpack("<24I", registers)
        return cls(
            (r[6] & 1023) + 1,
            (r[6] >> 10 & 511) + 1,
            (r[4] & 1023) + 1,
            (r[7] & 1023) + 1,
            (r[7] >> 10 & 511) + 1,
            (r[5] & 1023) + 1,
            3 if r[8] & 7 == 1 else 1,
            bool(r[0] & 8),
            r[2] & 32767,
            r[3] & 32767,
            (r[9], r[15], r[11]),
        )

    def weights(self, nbytes: int) -> int:
        """Bytes of the weights, `nbytes` each."""
        return self.out_c * self.kernel**2 * (1 if self.depthwise else self.in_c) * nbytes

    def __str__(self) -> str:
        text = f"{self.in_w}x{self.in_h}x{self.in_c} -> {self.out_w}x{self.out_h}x{self.out_c}"
        return f"{text}, {self.kernel}x{self.kernel}{' depthwise' if self.depthwise else ''}"


def _kpu_bytes(w: int, h: int, c: int) -> int:
    """Bytes of a feature map in KPU RAM: rows of 64, narrow maps put 2 or 4 channels into one."""
    if w > 32:
        return (w + 63) // 64 * 64 * h * c
    together = 4 if w <= 16 else 2
    return 64 * h * ((c + together - 1) // together)


def read_layers(source: object) -> tuple[KModel, list[Layer]]:
    """The model and its layers, every body checked: KModelError names what is wrong."""
    return with_file(source, _read_layers)


def _read_layers(f: File) -> tuple[KModel, list[Layer]]:
    model = identify(f)
    layers: list[Layer] = []
    if model.format not in ("v3", "v4"):
        return model, layers
    kinds = KINDS3 if model.format == "v3" else KINDS4
    names = LAYERS3 if model.format == "v3" else LAYERS4

    def visit(kind: int, offset: int, size: int) -> None:
        layers.append(Layer(len(layers), kind, names[kind][0], offset, size))

    walk(model, f, (model.header or 0) - 8 * (model.layers or 0), kinds, visit)
    look = _look3 if model.format == "v3" else _look4
    for layer in layers:
        look(model, f, layer)
    return model, layers


def _bytes(f: File, offset: int, n: int, what: str) -> bytes:
    return struct.pack(f"<{n // 4}I", *f.words(offset, n // 4, what))


def _look3(model: KModel, f: File, layer: Layer) -> None:
    _, n, spans = LAYERS3[layer.type]
    if layer.type == _CONV3:
        _conv3(model, f, layer)
    elif spans:
        words = f.words(layer.offset, n, layer.name)
        if spans is _concat:
            limit(layer.offset + 8, "concat inputs", words[2], 1, (layer.size - 12) // 8)
            words = (*words, *f.words(layer.offset + 12, 2 * words[2], layer.name))
        layer.spans = spans(words)
        if layer.type == 18:
            limit(
                layer.offset + 4,
                "body_size",
                layer.size,
                24 + 4 * words[4] * (words[3] + 1),
                layer.size,
            )
            layer.detail = f"{words[3]} -> {words[4]}"
    most = model.main_mem or 0
    for address, size in layer.spans:
        limit(layer.offset, f"{layer.name} main memory end", address + size, 0, most)


def _conv3(model: KModel, f: File, layer: Layer) -> None:
    flags, out, registers, weights, bn, act = f.words(layer.offset, 6, layer.name)
    end = layer.offset + layer.size
    limit(layer.offset + 8, "layer_offset", registers, layer.offset + 24, end - _REGISTERS)
    layer.conv = conv = Conv.parse(_bytes(f, registers, _REGISTERS, "registers"))
    layer.detail = str(conv)
    eight_bit = f.words(4, 1, "flags")[0] & 1
    parts = (
        ("weights", weights, conv.weights(1 if eight_bit else 2)),
        ("bn", bn, 8 * conv.out_c),
        ("act", act, _ACT),
    )
    for i, (name, start, size) in enumerate(parts):
        limit(layer.offset + 12 + 4 * i, f"{name}_offset", start, layer.offset + 24, end - size)
    if flags & 1:
        layer.spans = [(out, conv.out_w * conv.out_h * conv.out_c)]


def _look4(model: KModel, f: File, layer: Layer) -> None:
    n = LAYERS4[layer.type][1]
    at = layer.offset
    ranges = [at + 16 * i for i in range(n)]
    if layer.type == 1:
        count = f.words(at + 24, 1, "concat")[0]
        limit(at + 24, "concat inputs", count, 1, (layer.size - 28) // 20)
        ranges += [at + 28 + 16 * i for i in range(count)]
    constants = f.words(16, 1, "constants")[0]
    limits = (constants, model.main_mem or 0, KPU_RAM)
    shown = []
    for where in ranges:
        memory, kind, start, size = f.words(where, 4, layer.name)
        limit(where, "memory_type", memory, 0, 2)
        limit(where + 4, "datatype", kind, 0, 1)
        limit(where + 8, f"{layer.name} range end", start + size, 0, limits[memory])
        if memory == 1 and size:
            layer.spans.append((start, size))
        if size:
            shown.append(f"{_MEMORIES[memory]}:{size}")
    layer.detail = " ".join(shown)
    if layer.type == _CONV4:
        layer.conv = conv = Conv.parse(_bytes(f, at + 24, _REGISTERS, "registers"))
        tables = sum(conv.pads) + 8 * conv.out_c + _ACT + conv.weights(1)
        limit(at + 4, "body_size", layer.size, 120 + tables, layer.size)
        layer.detail = str(conv)


def run_transient(model: KModel, layers: list[Layer]) -> int:
    """Bytes that the SDK's kpu_run_kmodel mallocs while it runs a fully connected layer."""
    sizes = [0]
    for layer in layers:
        if model.format == "v3" and layer.type == 18:
            ic, oc = (int(n) for n in layer.detail.split(" -> "))
            sizes.append(4 * ic * oc + 4 * oc)
    return max(sizes)


def limits(model: KModel, layers: list[Layer]) -> Iterator[str]:
    """Where the model passes what the documents of the KPU promise: sentences."""
    if model.kpu_span is not None and model.kpu_span > KPU_RAM:
        yield f"uses {model.kpu_span} bytes of KPU RAM, there are {KPU_RAM}"
    for layer in layers:
        if layer.conv:
            yield from _conv_limits(layer.index, layer.conv)


def _conv_limits(index: int, c: Conv) -> Iterator[str]:
    for name, w, h in (("input", c.in_w, c.in_h), ("output", c.out_w, c.out_h)):
        if w > 320 or h > 240:
            yield f"layer {index}: {name} {w}x{h}, documented up to 320x240"
    if c.out_w < 4 or c.out_h < 4:
        yield f"layer {index}: output {c.out_w}x{c.out_h}, documented from 4x4"
    taken = _kpu_bytes(c.in_w, c.in_h, c.in_c) + _kpu_bytes(c.out_w, c.out_h, c.out_c)
    if taken > KPU_RAM:
        yield f"layer {index}: input and output take {taken} bytes of KPU RAM, there are {KPU_RAM}"
