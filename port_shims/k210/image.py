# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's image module: the memory and the traps of image.Image."""

import k210_board as board

_NO_ROOM = ("Out of normal MicroPython Heap Memory! Please reduce the resolution of the image you are running this "
            "algorithm on to bypass this issue!")
_NO_FIT = "The new image won't fit in the target frame buffer!"
_NAMES = {0: "binary", 1: "grayscale", 2: "rgb565"}
_POISON = object()


def _pixels(n):
    board.point("image alloc")
    try:
        return bytearray(n)
    except MemoryError:
        raise MemoryError(_NO_ROOM)


def _nbytes(w, h, bpp):
    if bpp == 0:
        return (w + 31) // 32 * 4 * h
    return w * h * bpp


class Image:
    def __init__(self, *args, size=(320, 240), copy_to_fb=False, from_bytes=False, _made=None):
        if _made:
            self._w, self._h, self._bpp, self._data, self._ai = _made
            return
        if args and not isinstance(args[0], (str, bytes, bytearray)):
            raise TypeError("object '%s' isn't a tuple or list" % type(args[0]).__name__)
        self._w, self._h = size
        self._bpp = 2
        self._data = _pixels(_nbytes(self._w, self._h, 2))
        self._ai = None

    def width(self):
        return self._w

    def height(self):
        return self._h

    def format(self):
        return self._bpp

    def size(self):
        return _nbytes(self._w, self._h, self._bpp)

    def __repr__(self):
        return '{"w":%d, "h":%d, "type"="%s", "size":%d}' % (self._w, self._h, _NAMES[self._bpp], self.size())

    def to_bytes(self):
        return self._data

    def pix_to_ai(self):
        if self._ai is _POISON:
            board.crash("pix_to_ai() on an image that copy() or crop() made uses an uninitialised pointer",
                        "copy into an image of your own with src.copy(copy_to_fb=dst), or use resize()")
        if self._ai is None:
            w = (self._w + 63) & ~63 if self._bpp == 2 else self._w
            self._ai = _pixels(w * self._h * (3 if self._bpp == 2 else 1))

    def copy(self, roi=None, x_scale=1.0, y_scale=1.0, copy_to_fb=False):
        board.alive()
        x, y, w, h = roi or (0, 0, self._w, self._h)
        n = _nbytes(w, h, self._bpp)
        if isinstance(copy_to_fb, Image):
            if n > copy_to_fb.size():
                raise OSError(_NO_FIT)
            copy_to_fb._data[:n] = self._data[:n]
            copy_to_fb._w, copy_to_fb._h, copy_to_fb._bpp = w, h, self._bpp
            data = copy_to_fb._data
        else:
            data = _pixels(n)
            data[:] = self._data[:n]
        return Image(_made=(w, h, self._bpp, data, _POISON))

    def __del__(self):
        self._data = None
