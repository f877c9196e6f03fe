# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Pictures in and out: what the camera sees, as the board takes it; what the display got, as
PNG."""

from __future__ import annotations

import functools
import importlib
import re
import struct
import zlib
from pathlib import Path
from typing import Any

PATTERN = "pattern"
_W, _H = 320, 240
_PPM = re.compile(rb"P6\s+(\d+)\s+(\d+)\s+255\s(.*)", re.DOTALL)


class PictureError(ValueError):
    """Something that is no picture; the text names it and the next step."""


def film(source: str) -> bytes:
    """What the camera sees one after the other: each picture's width and height in 16 bits, and
    its RGB bytes.

    `source` is a picture, a folder of them (in order of name), or PATTERN.
    """
    if source == PATTERN:
        return b"".join(_pattern(blue) for blue in range(0, 256, 16))
    path = Path(source)
    files = sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]
    if not files:
        raise PictureError(f"{path}: no pictures in it. Next: put PPM, PNG or JPEG files there")
    return b"".join(map(_picture, files))


def _frame(w: int, h: int, pixels: bytes) -> bytes:
    return struct.pack("<HH", w, h) + pixels


def _pattern(blue: int) -> bytes:
    """A ramp in red and green, as large as a QVGA picture."""
    row = bytearray(3 * _W)
    row[::3] = bytes(x * 255 // _W for x in range(_W))
    row[2::3] = bytes([blue]) * _W
    rows = []
    for y in range(_H):
        row[1::3] = bytes([y * 255 // _H]) * _W
        rows.append(bytes(row))
    return _frame(_W, _H, b"".join(rows))


def _picture(path: Path) -> bytes:
    try:
        ppm = _PPM.match(path.read_bytes())
    except OSError as e:
        raise PictureError(f"{path}: cannot be read: {e.strerror}. Next: check the file") from None
    if ppm:
        w, h, pixels = int(ppm[1]), int(ppm[2]), ppm[3]
        if len(pixels) < 3 * w * h or not 0 < w * h or max(w, h) >= 1 << 16:
            raise PictureError(
                f"{path}: no picture: {w} x {h} pixels need {3 * w * h} bytes, "
                f"{len(pixels)} are there."
                " Next: give PPM, PNG or JPEG files"
            )
        return _frame(w, h, pixels[: 3 * w * h])
    try:
        image: Any = importlib.import_module("PIL.Image")
    except ImportError:
        raise PictureError(
            f"{path} is no PPM picture (P6), and for others Pillow is not installed. "
            "Next: pip install pillow"
        ) from None
    try:
        with image.open(path) as picture:
            rgb = picture.convert("RGB")
            return _frame(rgb.width, rgb.height, rgb.tobytes())
    except (OSError, ValueError) as e:
        raise PictureError(f"{path}: no picture: {e}. Next: give PPM, PNG or JPEG files") from None


@functools.lru_cache(maxsize=None)
def _rgb(v: int) -> bytes:
    """The three bytes of a pixel of 16 bits."""
    return bytes(((v >> 11) * 255 // 31, (v >> 5 & 63) * 255 // 63, (v & 31) * 255 // 31))


def png(screen: bytes) -> bytes | None:
    """A picture of the display (width and height in 16 bits, then RGB565) as PNG; None for one
    without pixels."""
    w, h = struct.unpack_from("<HH", screen)
    if not w or not h:
        return None

    def piece(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    pixels = b"".join(map(_rgb, memoryview(screen)[4:].cast("H")))
    lines = b"".join(b"\0" + pixels[y * w * 3 : (y + 1) * w * 3] for y in range(h))
    head = struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + piece(b"IHDR", head)
        + piece(b"IDAT", zlib.compress(lines))
        + piece(b"IEND", b"")
    )
