# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""image.Image of MaixPy v1: where its bytes are, and the traps that hang the board."""

import k210_board as board
from k210_gc import Pixels

BINARY, GRAYSCALE, RGB565, BAYER, JPEG = 0, 1, 2, 3, 5
_NAMES = {BINARY: "binary", GRAYSCALE: "grayscale", RGB565: "rgb565", BAYER: "bayer", JPEG: "jpeg"}
_FIELDS = ("_w", "_h", "_bpp", "_owner", "_ai", "_packed", "__del__")
_NO_ROOM = (
    "Out of normal MicroPython Heap Memory! Please reduce the resolution of the image you are running this "
    "algorithm on to bypass this issue!"
)
_NO_FB = (
    "Out of Memory! Please reduce the resolution of the image you are running this algorithm on to bypass this "
    "issue!"
)
_NO_FIT = "The new image won't fit in the target frame buffer!"
_POISON = "poison"


def nbytes(w, h, bpp):
    """Bytes of the pixels of an image."""
    return (w + 31) // 32 * 4 * h if bpp == BINARY else w * h * bpp


def ai_bytes(w, h, bpp):
    """Bytes of the copy that pix_to_ai() keeps."""
    return ((w + 63) & ~63) * h * 3 if bpp == RGB565 else w * h


def pixels(n):
    """An owner of n zeroed bytes in the GC heap."""
    board.point("image")
    try:
        return Pixels(n)
    except MemoryError:
        raise MemoryError(_NO_ROOM)


# Contract.  Pixels and the AI copy are blocks of the GC heap (a frame of the camera: of the system heap), each owned
# by the object that holds it.  copy() and crop() leave the AI pointer uninitialised: pix_to_ai() then hangs the board.
# Methods that work in place return the image itself.  Only what has to do with memory is here.
class Image:
    def __init__(self, w, h, bpp, owner, ai=None):
        self._w, self._h, self._bpp = w, h, bpp
        self._owner = owner
        self._ai = ai
        self._packed = -1
        self.__del__ = self._free

    def __setattr__(self, name, value):
        if name not in _FIELDS:
            raise AttributeError("'Image' object has no attribute '%s'" % name)
        object.__setattr__(self, name, value)

    def __repr__(self):
        return '{"w":%d, "h":%d, "type"="%s", "size":%d}' % (
            self._w,
            self._h,
            _NAMES[self._bpp],
            self.size(),
        )

    def width(self):
        return self._w

    def height(self):
        return self._h

    def format(self):
        return self._bpp

    def size(self):
        if self._bpp == JPEG:
            return self._packed
        return nbytes(self._w, self._h, self._bpp)

    def has_ai(self):
        """The shim's own: pix_to_ai() was called on this image."""
        return self._ai is not None and self._ai is not _POISON

    def _free(self):
        """__del__(): frees the pixels, not the AI copy; a second call does nothing."""
        self._owner = None

    def _data(self):
        return self._owner.data if self._owner else bytearray(self.size())

    def to_bytes(self):
        board.alive()
        return self._data()

    def get_pixel(self, x, y):
        if not (0 <= x < self._w and 0 <= y < self._h):
            return None
        data = self._data()
        if self._bpp == GRAYSCALE:
            return data[y * self._w + x]
        at = 2 * (y * self._w + x)
        v = data[at] << 8 | data[at + 1]
        return ((v >> 11) * 255 // 31, (v >> 5 & 63) * 255 // 63, (v & 31) * 255 // 31)

    def set_pixel(self, x, y, color):
        if not (0 <= x < self._w and 0 <= y < self._h):
            return self
        data = self._data()
        if self._bpp == GRAYSCALE:
            data[y * self._w + x] = color if isinstance(color, int) else sum(color) // 3
        else:
            r, g, b = color
            v = r * 31 // 255 << 11 | g * 63 // 255 << 5 | b * 31 // 255
            at = 2 * (y * self._w + x)
            data[at], data[at + 1] = v >> 8, v & 255
        return self

    def clear(self):
        data = self._data()
        for i in range(self.size()):
            data[i] = 0
        return self

    def pix_to_ai(self):
        board.alive()
        if self._ai is _POISON:
            board.crash(
                "pix_to_ai() on an image that copy() or crop() made follows an uninitialised pointer",
                "copy into an image of your own with src.copy(copy_to_fb=dst), or use resize()",
            )
        if self._bpp not in (GRAYSCALE, RGB565):
            print("only support grayscale now")
        elif self._ai is None:
            self._ai = pixels(ai_bytes(self._w, self._h, self._bpp))

    def copy(self, roi=None, x_scale=1.0, y_scale=1.0, copy_to_fb=False):
        x, y, w, h = roi or (0, 0, self._w, self._h)
        w, h = int(w * x_scale), int(h * y_scale)
        owner = None
        if isinstance(copy_to_fb, Image):
            board.point("image")
            owner = copy_to_fb.take_shape(w, h, self._bpp)
        new = Image(w, h, self._bpp, owner or pixels(nbytes(w, h, self._bpp)), _POISON)
        self._blit(new, x, y, x_scale, y_scale)
        return new

    def take_shape(self, w, h, bpp):
        """The shim's own: become the target of copy(copy_to_fb=self), which keeps the block and changes the size."""
        if nbytes(w, h, bpp) > self.size():
            raise OSError(_NO_FIT)
        self._w, self._h, self._bpp = w, h, bpp
        return self._owner

    def _blit(self, new, x0, y0, x_scale, y_scale):
        """Copy the nearest pixels; binary images only as a whole."""
        source, target = self._data(), new._data()
        n = new.size()
        if (x0, y0, new._w, new._h) == (0, 0, self._w, self._h) or self._bpp == BINARY:
            target[:n] = memoryview(source)[:n]  # a slice of the pixels themselves would be a copy
            return
        step = self._bpp
        for y in range(new._h):
            row = (int(y / y_scale) + y0) * self._w
            if x_scale == 1.0:
                at = (row + x0) * step
                target[y * new._w * step : (y + 1) * new._w * step] = source[
                    at : at + new._w * step
                ]
                continue
            for x in range(new._w):
                at = (row + int(x / x_scale) + x0) * step
                for i in range(step):
                    target[(y * new._w + x) * step + i] = source[at + i]

    def crop(self, roi=None):
        """In place, through a scratch block of the system heap; what it returns shares the pixels and is a trap."""
        x, y, w, h = roi or (0, 0, self._w, self._h)
        board.point("image.crop")
        if not board.scratch(((self.size() + 31) & ~31,)):
            raise MemoryError(_NO_FB)
        part = Image(w, h, self._bpp, self._owner, _POISON)
        self._blit(part, x, y, 1.0, 1.0)
        self._w, self._h = w, h
        return part

    def resize(self, w, h):
        new = Image(w, h, self._bpp, pixels(nbytes(w, h, self._bpp)))
        self._blit(new, 0, 0, w / self._w, h / self._h)
        return new

    def cut(self, x, y, w, h):
        new = Image(w, h, self._bpp, pixels(nbytes(w, h, self._bpp)))
        self._blit(new, x, y, 1.0, 1.0)
        return new

    def to_grayscale(self, copy=False):
        return self._convert(GRAYSCALE, copy)

    def to_rgb565(self, copy=False):
        return self._convert(RGB565, copy)

    def _convert(self, bpp, copy):
        board.alive()
        if not copy:
            if bpp > self._bpp:
                raise OSError("Can't convert to rgb565 in place!")
            self._bpp = bpp
            return self
        owner = pixels(nbytes(self._w, self._h, bpp))
        return Image(self._w, self._h, bpp, owner, pixels(self._w * self._h * 3))

    def compress(self, quality=50):
        """In place, through the biggest scratch block of the system heap; the size of the result is made up."""
        board.point("image.compress")
        if not board.scratch((board.state.firmware.fb_all,)):
            raise MemoryError(_NO_FB)
        self._packed = 600 + self.size() // 8
        self._bpp = JPEG
        return self
