# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A V4 model computed by a plain reading of its layers, with numpy: nothing of the board's code.

Sources: kpu.h of the Kendryte SDK (registers), nncase 0.2 (bodies, arithmetic of the kernels).
Only the layers of a plain classifier are here; another one is a KeyError with its number.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
_LEFT_TOP, _MAX = (5,), (1,)
_PIECES = 16


def _signed(v: int, first: int, bits: int) -> int:
    v = v >> first & (1 << bits) - 1
    return v - (v >> bits - 1 << bits)


def _rounded(v: Array, shift: Array) -> Array:
    """v / 2^shift: halves up for positive numbers, to the even one below zero."""
    v = np.asarray(v, np.int64)
    whole, half = v >> shift, v >> np.maximum(np.asarray(shift) - 1, 0) & 1
    return np.where(shift == 0, v, whole + (half & ((v >= 0) | (whole & 1 == 1))))


def _activated(v: Array, table: bytes) -> Array:
    pieces = struct.unpack_from("<16Q", table)
    which = np.zeros(v.shape, int)
    for i in range(1, _PIECES):
        which[v > _signed(pieces[i], 24, 36)] = i
    start, slope, shift = (
        np.array([_signed(p, first, bits) for p in pieces])[which]
        for first, bits in ((24, 36), (8, 16), (0, 9))
    )
    bias = np.frombuffer(table, np.uint8, _PIECES, 128).astype(int)[which]
    return np.clip(_rounded((v - start) * slope, shift & 255) + bias, 0, 255)


def _conv(body: bytes, x: Array) -> Array:
    """A convolution of the KPU: x as (channels, h, w) bytes; the same of its output."""
    words = struct.unpack_from("<12Q", body, 24)
    ic, oc = (words[2] & 1023) + 1, (words[2] >> 32 & 1023) + 1
    k, pool = 3 if words[4] & 7 else 1, words[4] >> 4 & 15
    norm_at = 120 + (words[4] >> 32)
    act_at = norm_at + 8 * oc + (words[7] >> 32)
    weights_at = act_at + 144 + (words[5] >> 32)
    norm = struct.unpack_from(f"<{oc}Q", body, norm_at)
    weights = np.frombuffer(body, np.uint8, oc * ic * k * k, weights_at)
    weights = weights.reshape(oc, ic, k, k).astype(np.float64)
    x = x.reshape(ic, (words[3] >> 10 & 511) + 1, (words[3] & 1023) + 1)
    h, w = x.shape[1:]
    edge = k // 2
    framed = np.pad(
        x.astype(np.float64),
        ((0, 0), (edge, edge), (edge, edge)),
        constant_values=words[4] >> 24 & 255,
    )
    total = np.zeros((oc, h, w), np.float64)  # whole numbers far below 2^53
    seen = np.zeros((h, w), np.int64)
    for i in range(k):
        for j in range(k):
            part = framed[:, i : i + h, j : j + w]
            total += np.tensordot(weights[:, :, i, j], part, 1)
            seen += part.sum(0).astype(np.int64)
    sums = weights.sum((1, 2, 3)).astype(np.int64)[:, None, None]
    v = total.astype(np.int64) + _signed(words[10], 0, 40) * ic
    v += _rounded(_signed(words[9], 32, 24) * seen, np.int64(words[9] >> 4 & 15))
    v += _rounded(_signed(words[9], 8, 24) * sums, np.int64(words[9] & 15))
    factor, offset, shift = (
        np.array([take(n) for n in norm])[:, None, None]
        for take in (
            lambda n: _signed(n, 0, 24),
            lambda n: _signed(n, 24, 32),
            lambda n: n >> 56 & 15,
        )
    )
    out = _activated((v * factor >> shift) + offset, body[act_at : act_at + 144])
    if pool in _MAX:
        return out[:, : h // 2 * 2, : w // 2 * 2].reshape(oc, h // 2, 2, w // 2, 2).max((2, 4))
    if pool in _LEFT_TOP:
        return out[:, ::2, ::2]
    return {0: out}[pool]


def _dequantize(body: bytes, x: Array) -> Array:
    zero, scale = struct.unpack_from("<if", body, 32)
    return ((x - zero).astype(np.float32) / np.float32(scale)).astype(np.float32)


def _quantize(body: bytes, x: Array) -> Array:
    zero, scale = struct.unpack_from("<if", body, 32)
    return np.clip(np.round(x * np.float32(scale)) + zero, 0, 255).astype(np.int64)


def _reduce(body: bytes, x: Array) -> Array:
    """The mean over the axes that are one in the output; the other kinds are KeyErrors."""
    kind, *shape = struct.unpack_from("<9i", body, 32)
    axes = tuple(i for i in range(4) if shape[4 + i] != shape[i])
    return {0: np.mean}[kind](x.reshape(shape[:4]), axis=axes, dtype=np.float32)


def _pad(body: bytes, x: Array) -> Array:
    """Negative numbers cut."""
    shape, ends = struct.unpack_from("<4i", body, 32), struct.unpack_from("<8i", body, 48)
    (value,) = struct.unpack_from("<f", body, 84)
    pairs = list(zip(ends[::2], ends[1::2]))
    out = np.pad(
        x.reshape(shape), [(max(a, 0), max(b, 0)) for a, b in pairs], constant_values=value
    )
    cut = [slice(max(-a, 0), out.shape[i] - max(-b, 0)) for i, (a, b) in enumerate(pairs)]
    return out[tuple(cut)]


def outputs(model: bytes, x: Array) -> Array:
    """What the model makes of the pixels, (channels, h, w) bytes."""
    constant_bytes, _, nodes, inputs, outs = struct.unpack_from("<5I", model, 16)
    constants_at = 40 + 32 * inputs + 16 * outs
    heads_at = constants_at + constant_bytes
    at = heads_at + 8 * nodes

    def matmul(body: bytes, a: Array) -> Array:
        start, size = struct.unpack_from("<2I", body, 24)
        rows, inner, columns = struct.unpack_from("<3i", body, 48)
        b = np.frombuffer(model, np.float32, size // 4, constants_at + start)
        bias = np.frombuffer(body, np.float32, columns, 68)
        return a.reshape(rows, inner) @ b.reshape(inner, columns) + bias

    kernels: dict[int, Callable[[bytes, Array], Array]] = {
        0x03: _dequantize, 0x04: matmul, 0x05: _pad, 0x06: _quantize, 0x07: _reduce,
        0x2001: lambda body, x: x, 0x2002: _conv,
    }  # fmt: skip
    for i in range(nodes):
        code, size = struct.unpack_from("<2I", model, heads_at + 8 * i)
        x = kernels[code](model[at : at + size], x)
        at += size
    return x.ravel()
