# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One layer of the KPU: its twelve arguments, its tables, what it has to give by definition.

A product of pixel and weight is (x + shift of x) * (w + shift of w), written as four sums; then
batch normalisation (v * factor >> shift) + offset; then a line of sixteen, chosen by where the
value lies. Source: kpu.h (kpu_layer_argument_t), nncase 0.1 (quantised convolution on the K210).
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field

from register_programs import KPU_RAM, RAM_START

KPU = 0x40800000
ARGUMENT, CLEAR, EIGHT_BIT = KPU, KPU + 0x20, KPU + 0x40
WEIGHTS, NORM, ACTIVATION = RAM_START + 0x500000, RAM_START + 0x510000, RAM_START + 0x520000
OUTPUT_LINE = 0x4000


def _bits(*fields: tuple[int, int, int]) -> int:
    """(value, first bit, bits) of each field."""
    return sum((value & (1 << n) - 1) << first for value, first, n in fields)


def _rounded(v: int, shift: int) -> int:
    """v / 2^shift: halves up for positive numbers, to the even one below zero."""
    if not shift:
        return v
    whole, half = v >> shift, v >> (shift - 1) & 1
    return whole + (half if v >= 0 or whole & 1 else 0)


@dataclass
class Layer:
    """A convolution of random numbers, width at most 16, four channels in a line of the AI RAM."""

    seed: int
    w: int = 8
    h: int = 6
    inputs: int = 3
    outputs: int = 5
    kernel: int = 3
    depthwise: bool = False
    weight_bytes: int = 1
    where: int = 0  # taken from the tables' addresses; 0x40000000: past the caches
    pixels: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        r = random.Random(self.seed)
        each = (1 if self.depthwise else self.inputs) * self.kernel**2
        most = 256**self.weight_bytes
        self.padding, self.shift_x, self.shift_w = r.randrange(256), r.randrange(4), r.randrange(4)
        self.arg_x, self.arg_w = r.randrange(-200, 200), r.randrange(-200, 200)
        self.add = r.randrange(-5000, 5000)
        self.weights = [[r.randrange(most) for _ in range(each)] for _ in range(self.outputs)]
        self.norm = [
            (r.randrange(-900, 900), r.randrange(-9999, 9999), r.randrange(8, 11))
            for _ in range(self.outputs)
        ]
        reach = each * most << 7
        starts = sorted(r.randrange(-reach, reach) for _ in range(15))
        self.pieces = [
            (start, r.randrange(-300, 300), reach.bit_length() - 3, r.randrange(256))
            for start in (-(1 << 35), *starts)
        ]
        self.pixels = [
            [r.randrange(256) for _ in range(self.w * self.h)] for _ in range(self.inputs)
        ]

    def arguments(self) -> list[int]:
        """The twelve words."""
        size = _bits((self.w - 1, 0, 10), (self.h - 1, 10, 9))
        tables = [(at - self.where) & 0xFFFFFFFF for at in (NORM, WEIGHTS, ACTIVATION)]
        lines = _bits((self.h, 0, 15), (1, 16, 4))
        return [
            _bits((1, 0, 1), (self.depthwise, 3, 1)),
            _bits((0, 0, 15), (OUTPUT_LINE, 32, 15)),
            _bits((self.inputs - 1, 0, 10), (self.outputs - 1, 32, 10)),
            size | size << 32,
            _bits((self.kernel == 3, 0, 3), (self.padding, 24, 8), (tables[0], 32, 32)),
            _bits((1, 0, 1), (tables[1], 32, 32)),
            0,
            lines | _bits((4, 28, 3), (tables[2], 32, 32)),
            lines | _bits((4, 20, 3)),
            _bits((self.shift_w, 0, 4), (self.shift_x, 4, 4), (self.arg_w, 8, 24))
            | _bits((self.arg_x, 32, 24)),
            _bits((self.add, 0, 40)),
            0,
        ]  # fmt: skip

    def stores(self) -> list[tuple[int, int]]:
        return [(EIGHT_BIT, self.weight_bytes == 1), *((ARGUMENT, v) for v in self.arguments())]

    def memory(self) -> dict[int, bytes]:
        """The tables and the input image."""
        code = "B" if self.weight_bytes == 1 else "H"
        flat = [v for one in self.weights for v in one]
        norm = [_bits((f, 0, 24), (add, 24, 32), (s, 56, 4)) for f, add, s in self.norm]
        pieces = [_bits((s, 0, 8), (k, 8, 16), (x, 24, 36)) for x, k, s, _ in self.pieces]
        image = bytearray(64 * self.h * -(-self.inputs // 4))
        for c, plane in enumerate(self.pixels):
            for y in range(self.h):
                at = self._at(c, y)
                image[at : at + self.w] = bytes(plane[y * self.w : (y + 1) * self.w])
        return {
            WEIGHTS: struct.pack(f"<{len(flat)}{code}", *flat),
            NORM: struct.pack(f"<{len(norm)}Q", *norm),
            ACTIVATION: struct.pack("<16Q", *pieces) + bytes(b for *_, b in self.pieces),
            KPU_RAM: bytes(image),
        }

    def _at(self, channel: int, y: int) -> int:
        return 64 * (channel // 4 * self.h + y) + channel % 4 * 16

    def outcome(self, ram: bytes, line: int = OUTPUT_LINE) -> list[list[int]]:
        """The output planes in the AI RAM, from that line on."""
        start = KPU_RAM - RAM_START + 64 * line
        return [
            [
                v
                for y in range(self.h)
                for v in ram[start + self._at(c, y) : start + self._at(c, y) + self.w]
            ]
            for c in range(self.outputs)
        ]

    def expected(self) -> list[list[int]]:
        return [
            [self._pixel(c, x, y) for y in range(self.h) for x in range(self.w)]
            for c in range(self.outputs)
        ]

    def _pixel(self, c: int, x: int, y: int) -> int:
        reach = self.kernel // 2
        planes = [self.pixels[c]] if self.depthwise else self.pixels
        seen = [
            plane[v * self.w + u] if 0 <= u < self.w and 0 <= v < self.h else self.padding
            for plane in planes
            for v in range(y - reach, y + reach + 1)
            for u in range(x - reach, x + reach + 1)
        ]
        weights = self.weights[c]
        total = sum(p * w for p, w in zip(seen, weights)) + self.add * len(planes)
        total += _rounded(self.arg_x * sum(seen), self.shift_x)
        total += _rounded(self.arg_w * sum(weights), self.shift_w)
        factor, offset, shift = self.norm[c]
        total = (total * factor >> shift) + offset
        start, slope, by, bias = [p for p in self.pieces if p[0] < total][-1]
        return max(0, min(255, _rounded((total - start) * slope, by) + bias))
