# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Pictures in and out: what the camera sees, as PPM; what the display got, as PNG."""

from __future__ import annotations

import importlib
import struct
import zlib
from pathlib import Path
from typing import Any

PATTERN = "pattern"


class PictureError(ValueError):
    """Something that is no picture; the text names it and the next step."""


def camera_stream(source: Path, out: Path) -> None:
    """Writes the picture, or those of a folder in order of name, one after the other as PPM."""
    files = sorted(p for p in source.iterdir() if p.is_file()) if source.is_dir() else [source]
    if not files:
        raise PictureError(f"{source}: no pictures in it. Next: put PPM, PNG or JPEG files there")
    with out.open("wb") as f:
        for path in files:
            f.write(_ppm(path))


def _ppm(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as e:
        raise PictureError(f"{path}: cannot be read: {e.strerror}. Next: check the file") from None
    if data[:2] == b"P6":
        return data
    try:
        image: Any = importlib.import_module("PIL.Image")
    except ImportError:
        raise PictureError(
            f"{path} is no PPM picture (P6), and for others Pillow is not installed. Next: pip install pillow"
        ) from None
    try:
        with image.open(path) as picture:
            rgb = picture.convert("RGB")
            return b"P6\n%d %d\n255\n" % rgb.size + rgb.tobytes()
    except (OSError, ValueError) as e:
        raise PictureError(f"{path}: no picture: {e}. Next: give PPM, PNG or JPEG files") from None


def png(ppm: bytes) -> bytes | None:
    """A PPM picture of the board as PNG; None for one without pixels."""
    _, size, _, pixels = ppm.split(b"\n", 3)
    w, h = map(int, size.split())
    if not w or not h:
        return None

    def piece(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    lines = b"".join(b"\0" + pixels[y * w * 3 : (y + 1) * w * 3] for y in range(h))
    head = struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + piece(b"IHDR", head)
        + piece(b"IDAT", zlib.compress(lines))
        + piece(b"IEND", b"")
    )
