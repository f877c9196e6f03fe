# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Images of MaixPy v4: pixels in the Linux heap, one page more than their size, freed with the
object."""

import enum
import weakref

import maixcam_board as board

from maix import err

# name: bits per pixel
_BITS = {
    "FMT_RGB888": 24, "FMT_BGR888": 24, "FMT_RGBA8888": 32, "FMT_BGRA8888": 32,
    "FMT_RGB565": 16, "FMT_BGR565": 16, "FMT_YUV422SP": 16, "FMT_YUV422P": 16,
    "FMT_YVU420SP": 12, "FMT_YUV420SP": 12, "FMT_YVU420P": 12, "FMT_YUV420P": 12,
    "FMT_GRAYSCALE": 8,
}  # fmt: skip
_OPAQUE = ("FMT_GRAYSCALE", "FMT_RGB888", "FMT_BGR888")
_BLENDED = ("FMT_RGBA8888", "FMT_BGRA8888")

Format = enum.IntEnum("Format", list(_BITS), start=0)
globals().update(Format.__members__)


class Image:
    """Pixels of width x height in a format; `data` given = a wrap of the caller's own memory."""

    def __init__(self, width, height, format=Format.FMT_RGB888, data=None):
        self._width, self._height, self._format = width, height, format
        self._size = width * height * _BITS[format.name] // 8
        if data is not None:
            self._data = data
            return
        block = board.heap.alloc(self._size + board.HEAP_PAD, "image")
        if block is None:
            raise err.Exception(err.Err.ERR_NO_MEM, "malloc image data failed")
        weakref.finalize(self, board.heap.free, block).atexit = False
        self._data = bytearray(self._size)

    def width(self):
        return self._width

    def height(self):
        return self._height

    def format(self):
        return self._format

    def data_size(self):
        return self._size

    def to_bytes(self, copy=True):
        return bytes(self._data) if copy else self._data

    def copy(self):
        return from_bytes(self._width, self._height, self._format, self._data)

    def draw_image(self, x, y, img):
        """Pastes img, blends it where it has alpha; here only the whole of an image of the
        same size and format."""
        if self._format.name not in _OPAQUE + _BLENDED:
            raise err.Exception(err.Err.ERR_NOT_IMPL, "image format not support")
        if (x, y) != (0, 0) or _shape(img) != _shape(self):
            raise NotImplementedError("the stand-in pastes whole images of one size and format")
        data = img.to_bytes(copy=False)
        if self._format.name in _OPAQUE:
            self._data[:] = data
            return self
        for i in range(0, len(data), 4):
            alpha = data[i + 3]
            for k in range(i, i + 4 if alpha else i):
                self._data[k] = (data[k] * alpha + self._data[k] * (255 - alpha)) // 255
        return self


def _shape(img):
    return img.width(), img.height(), img.format()


def from_bytes(width, height, format, data, copy=True):
    """An image of these bytes: a copy, or with copy=False a wrap of them."""
    if len(data) != width * height * _BITS[format.name] // 8:
        raise err.Exception(err.Err.ERR_ARGS, "data size not match")
    if not copy:
        return Image(width, height, format, data)
    img = Image(width, height, format)
    img._data[:] = data
    return img
