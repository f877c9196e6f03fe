# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A V3 model of our own whose numbers are known by definition: two convolutions of kpu_layers
and a dequantisation. Body layouts: nncase 0.1, the Kendryte SDK (kpu.h)."""

from __future__ import annotations

import struct

from kpu_layers import ACTIVATION, ARGUMENT, NORM, OUTPUT_LINE, WEIGHTS, Layer

W, H = 8, 6
RESULT = 0  #: line of the AI RAM where the second layer's result begins
SCALE, BIAS = 0.25, -7.5  # of the dequantisation: all results are exact in 32 bits
_CONV, _DEQUANTIZE = 10240, 12
_TO_MAIN = 1  # flag of a convolution: its output goes to main memory
_NEXT = 0x40000  # from the first layer's tables to the second's


def picture() -> list[tuple[int, int, int]]:
    """The pixels (red, green, blue): those that 16 bits a pixel keep."""
    kept = [[round(v * 255 / most) for v in range(most + 1)] for most in (31, 63)]
    five, six = kept
    return [(five[i * 5 % 32], six[i * 13 % 64], five[31 - i * 2 % 32]) for i in range(W * H)]


def layers() -> tuple[Layer, Layer]:
    """The second one takes what the first one gives."""
    first, second = Layer(52), Layer(43, inputs=5, outputs=4, kernel=1)
    first.pixels = [list(plane) for plane in zip(*picture())]
    second.pixels = first.expected()
    return first, second


def expected() -> list[float]:
    """The model's output, channel by channel."""
    return [v * SCALE + BIAS for plane in layers()[1].expected() for v in plane]


_SCRIPT = """
import image
import KPU as kpu
net = kpu.load({at})
shown = image.Image(size=({w}, {h}))
for i, color in enumerate({colors}):
  shown.set_pixel(i % {w}, i // {w}, color)
shown.pix_to_ai()
out = kpu.forward(net, shown)
print([out[i] for i in range({n})])
kpu.deinit(net)
"""


def script(at: int) -> str:
    """For a board with the model at that address of its flash: prints the output, a list."""
    return _SCRIPT.format(at=at, w=W, h=H, colors=picture(), n=len(expected()))


def _chained(layer: Layer, second: bool) -> list[int]:
    """The arguments; the second layer's image lies where the first one's result does."""
    words = layer.arguments()
    words[1] = OUTPUT_LINE | RESULT << 32 if second else words[1]
    return words


def program() -> tuple[list[tuple[int, int]], dict[int, bytes]]:
    """(stores, memory) of register_programs: both layers one after the other."""
    first, second = layers()
    memory = first.memory()
    tables = second.memory()
    moved = {NORM: (4, 32), WEIGHTS: (5, 32), ACTIVATION: (7, 32)}
    words = _chained(second, True)
    for at, (word, bit) in moved.items():
        memory[at + _NEXT] = tables[at]
        words[word] += _NEXT << bit
    return [*first.stores(), *((ARGUMENT, v) for v in words)], memory


def model() -> bytes:
    """The kmodel: header, layer headers, bodies."""
    first, second = layers()
    size = W * H * len(second.weights)
    floats = 0  # where the output lies in main memory; the bytes lie after it
    at = 28 + 8 + 3 * 8
    bodies = []
    for layer, out in ((first, None), (second, 4 * size)):
        bodies.append(_body(layer, at, out))
        at += len(bodies[-1])
    bodies.append(struct.pack("<4I2f", 0, 4 * size, floats, size, SCALE, BIAS))
    kinds = (_CONV, _CONV, _DEQUANTIZE)
    header = struct.pack("<7I", 3, 1, 0, len(bodies), 0, 5 * size, 1)
    heads = b"".join(struct.pack("<2I", kind, len(body)) for kind, body in zip(kinds, bodies))
    return header + struct.pack("<2I", floats, 4 * size) + heads + b"".join(bodies)


def _body(layer: Layer, at: int, out: int | None) -> bytes:
    """A convolution whose body begins at that offset of the file: its tables lie in it, aligned;
    `out` is where its result goes in main memory, None where it stays with the KPU."""
    words = _chained(layer, out is not None)
    for word in (4, 5, 7):  # the program that loads the model puts addresses there
        words[word] &= 0xFFFFFFFF
    words[0] &= ~1  # it asks for the interrupt itself
    if out is not None:
        words[11] = (W * H * len(layer.weights) - 1) << 32
    memory = layer.memory()
    body = bytearray(24)
    offsets = []
    parts = (struct.pack("<12Q", *words), memory[WEIGHTS], memory[NORM], memory[ACTIVATION])
    for data, alignment in zip(parts, (8, 128, 128, 256)):
        body += bytes(-(at + len(body)) % alignment)
        offsets.append(at + len(body))
        body += data
    body += bytes(-(at + len(body)) % 8)
    flags = 0 if out is None else _TO_MAIN
    body[:24] = struct.pack("<6I", flags, out or 0, *offsets)
    return bytes(body)
