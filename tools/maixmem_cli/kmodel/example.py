# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A model that loads and finds nothing: one convolution with weights of zero, so that commands
have a file to try.

V3, as nncase 0.1 writes it; the fields are those that maixmem_kmodel reads.
"""

from __future__ import annotations

import struct

_CONV = 10240  # the type of a KPU convolution
_HEADER = 28 + 8 + 8  # of the file, one output, one layer
_HEAD, _REGISTERS = 24, 96
_W, _H, _IN, _OUT = 320, 240, 3, 4  # a frame of the camera in, the same size out
_LINES, _LINE = 32768, 64  # of KPU RAM, and bytes of each
_ROW = _W // _LINE  # lines
_PLANE = _ROW * _H


def data(nbytes: int = 384 << 10) -> bytes:
    """A model file of so many bytes."""
    registers = _aligned(_HEADER + _HEAD, 8)
    weights = _aligned(registers + _REGISTERS, 128)
    norm = _aligned(weights + 9 * _IN * _OUT, 128)
    activation = _aligned(norm + 8 * _OUT, 256)
    out = _W * _H * _OUT
    start = _LINES - _PLANE * _IN
    r = [0] * (_REGISTERS // 4)
    r[2], r[4], r[5] = start, _IN - 1, _OUT - 1
    r[6] = r[7] = _W - 1 | (_H - 1) << 10
    r[8], r[22], r[23] = 1, 1, out - 1  # 3x3, to main memory
    r[14], r[16] = _PLANE | _ROW << 16 | 1 << 28, _PLANE | _ROW << 16 | 1 << 20
    head = struct.pack("<7I", 3, 1, 0, 1, start, out, 1)
    head += struct.pack("<2I", 0, out) + struct.pack("<2I", _CONV, nbytes - _HEADER)
    head += struct.pack("<6I", 1, 0, registers, weights, norm, activation)
    head += bytes(registers - len(head)) + struct.pack(f"<{len(r)}I", *r)
    return head + bytes(nbytes - len(head))


def _aligned(offset: int, boundary: int) -> int:
    """The next multiple of `boundary`."""
    return -(-offset // boundary) * boundary
