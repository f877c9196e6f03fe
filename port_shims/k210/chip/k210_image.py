# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""image.Image of MaixPy v1: where its bytes are, and the traps that hang the board."""

import struct

import k210_board as board
import k210_pictures
import k210_statistics
import k210_work
from k210_args import IN_ONE, as_float, as_int, as_tuple, option
from k210_gc import NATIVE, Pixels
from k210_model import jpeg

BINARY, GRAYSCALE, RGB565, BAYER, JPEG = 0, 1, 2, 3, 5
_NAMES = {BINARY: "binary", GRAYSCALE: "grayscale", RGB565: "rgb565", BAYER: "bayer", JPEG: "jpeg"}
_FORMATS = {BINARY: None, GRAYSCALE: 4}
_FIELDS = ("_form", "_owner", "_ai")
_HEAD = 32  # bytes of a bytearray besides its own
_SIDE = 20  # bits of a width, of a height
_MOST = (1 << _SIDE) - 1
_NO_ROOM = (
    "Out of normal MicroPython Heap Memory! Please reduce the resolution of the image "
    "you are running this "
    "algorithm on to bypass this issue!"
)
_NO_FIT = "The new image won't fit in the target frame buffer!"
_NOT_SUPPORTED = "Image format is not supported!"
_SCALES = ("x_scale", "y_scale")
_FONT_W = 32  # dots of a character at most
_POISON = "poison"
_NULL_PAGE = 0x1000  # writes below this address are lost, and harm nothing


class _Slice:
    def __getitem__(self, part):
        return part


_WHOLE = _Slice()[:]  # made once: a slice is an object of the heap
_zeros = [0, "0s"]  # bytes that were cleared last, and their format


def _padding(n):
    """The format of a text of n bytes, which an empty one fills with zeros."""
    if _zeros[0] != n:
        _zeros[:] = n, "%ds" % n
    return _zeros[1]


def nbytes(w, h, bpp):
    """Bytes of the pixels of an image."""
    return (w + 31) // 32 * 4 * h if bpp == BINARY else w * h * bpp


def ai_bytes(w, h, bpp):
    """Bytes of the copy that pix_to_ai() keeps."""
    return ((w + 63) & ~63) * h * 3 if bpp == RGB565 else w * h


def _scale(value, name):
    if as_float(value) < 0:
        raise OSError("Error: 0.0 <= %s!" % name)
    return value


def pixels(n):
    """An owner of n zeroed bytes in the GC heap."""
    board.point("image")
    try:
        return Pixels(n)
    except MemoryError:
        raise MemoryError(_NO_ROOM)


def _copy(n):
    """The owner of an AI copy of n bytes, of which no byte is looked at: with its own head it is
    as large as the board's."""
    return pixels(max(0, n - _HEAD) if NATIVE else n)


# Contract. Pixels and the AI copy are blocks of the GC heap (a frame of the camera: of the system
# heap), each owned by the object that holds it. copy() and crop() leave the AI pointer
# uninitialised: pix_to_ai() then hangs the board. Methods that work in place return the image
# itself, those that change its format another one of the same pixels. Only what has to do with
# memory is here, and of that as little as the board's 64 bytes.
class Image:
    def __init__(self, w, h, bpp, owner, ai=None):
        self._become(w, h, bpp)
        self._owner = owner
        self._ai = ai

    def _become(self, w, h, bpp):
        """Another shape, in one number."""
        self._form = (bpp << _SIDE | h) << _SIDE | w

    @property
    def _w(self):
        return self._form & _MOST

    @property
    def _h(self):
        return self._form >> _SIDE & _MOST

    @property
    def _bpp(self):
        return self._form >> 2 * _SIDE & 7

    @property
    def _packed(self):
        """Bytes of a JPEG, -1 where none is there yet."""
        return (self._form >> 2 * _SIDE + 3) - 1

    def _pack(self, nbytes):
        """It is a JPEG of so many bytes from now on."""
        self._become(self._w, self._h, (nbytes + 1) << 3 | JPEG)

    def __setattr__(self, name, value):
        if name not in _FIELDS:
            raise AttributeError("'Image' object has no attribute '%s'" % name)
        object.__setattr__(self, name, value)

    def __getattr__(self, name):
        if name == "__del__":
            return self._free
        raise AttributeError("'Image' object has no attribute '%s'" % name)

    def __repr__(self):
        return '{"w":%d, "h":%d, "type"="%s", "size":%d}' % (
            self._w,
            self._h,
            _NAMES[self._bpp],
            self.size() if self._bpp else self.size() // 4,  # the firmware counts words there
        )

    def width(self):
        return self._w

    def height(self):
        return self._h

    def format(self):
        """The number of sensor's pixel format; None of a binary image."""
        return _FORMATS.get(self._bpp, self._bpp)

    def size(self):
        if self._bpp == JPEG:
            return self._packed
        return nbytes(self._w, self._h, self._bpp)

    def _has_ai(self):
        """The shim's own: pix_to_ai() was called on this image."""
        return self._ai is not None and self._ai is not _POISON

    def _free(self):
        """__del__(): frees the pixels, not the AI copy; a second call does nothing. Called by that
        name alone: a class with it would be finalised by MicroPython."""
        self._owner = None

    def _data(self):
        owner = self._owner
        if not owner:
            return bytearray(self.size())
        data = owner if isinstance(owner, bytearray) else owner.data
        if self._packed > 0:  # in place: the block is that of the pixels
            return board.bytes_in(data, self._packed)
        return data

    def _plain(self):
        """OSError for an image that is packed."""
        if self._bpp == JPEG:
            raise OSError(_NOT_SUPPORTED)

    def _touched(self):
        """Pixels are written: the board hangs where there are none."""
        board.alive()
        if not self._owner and self.size() > _NULL_PAGE:
            board.crash(
                "an image without pixels (copy_to_fb without a camera) is written "
                "through a null pointer",
                "use image.Image(size=(w, h)), or call sensor.reset() first",
            )

    def to_bytes(self, *args, **kwargs):
        board.alive()
        return self._data()

    def __getitem__(self, at):
        if isinstance(at, slice):
            n = self._w * self._h
            return tuple([self[i] for i in range(at.start or 0, min(n, at.stop or n))])
        if not 0 <= at < self._w * self._h:
            raise IndexError("image index out of range")
        return self.get_pixel(at % self._w, at // self._w)

    def __setitem__(self, at, value):
        if isinstance(at, slice):
            return
        self.set_pixel(at % self._w, at // self._w, value)

    def __iter__(self):
        raise TypeError("'Image' object isn't iterable")

    def get_pixel(self, *place, **other):
        """get_pixel(x, y) or ((x, y)): a number or (r, g, b); None outside."""
        if isinstance(place[0], IN_ONE):
            place = place[0]
        x, y = place[0], place[1]
        if not (0 <= x < self._w and 0 <= y < self._h):
            return None
        data = self._data()
        if self._bpp != RGB565:
            return data[y * self._w + x] if self._bpp == GRAYSCALE else 0
        at = 2 * (y * self._w + x)
        v = data[at] << 8 | data[at + 1]
        return ((v >> 11) * 255 // 31, (v >> 5 & 63) * 255 // 63, (v & 31) * 255 // 31)

    def set_pixel(self, *place, **other):
        """set_pixel(x, y, color) or ((x, y), color)."""
        if isinstance(place[0], IN_ONE):
            place = tuple(place[0]) + place[1:]
        x, y = place[0], place[1]
        color = place[2] if len(place) > 2 else 0
        if not isinstance(color, int):
            color = self._packed_color(*as_tuple(color, 3))
        inside = 0 <= x < self._w and 0 <= y < self._h
        if not inside or self._bpp not in (GRAYSCALE, RGB565):
            return self
        data = self._data()
        at = self._bpp * (y * self._w + x)
        if self._bpp == GRAYSCALE:
            data[at] = color & 255
        else:
            data[at], data[at + 1] = color >> 8 & 255, color & 255
        return self

    def _packed_color(self, r, g, b):
        if self._bpp == GRAYSCALE:
            return (r + g + b) // 3
        return r * 31 // 255 << 11 | g * 63 // 255 << 5 | b * 31 // 255

    def clear(self):
        self._touched()
        if self._owner:
            struct.pack_into(_padding(self.size()), self._data(), 0, b"")
        return self

    def pix_to_ai(self):
        board.alive()
        if self._ai is _POISON:
            board.crash(
                "pix_to_ai() on an image that copy() or crop() made follows an "
                "uninitialised pointer",
                "copy into an image of your own with src.copy(copy_to_fb=dst), or use resize()",
            )
        if self._bpp not in (GRAYSCALE, RGB565):
            print("only support grayscale now")
        elif self._ai is None:
            self._ai = _copy(ai_bytes(self._w, self._h, self._bpp))

    def copy(self, *args, **kwargs):
        x, y, w, h = self._part(args, kwargs)
        x_scale, y_scale = [
            _scale(option(args, kwargs, 1 + i, name, 1.0), name) for i, name in enumerate(_SCALES)
        ]
        w, h = int(w * x_scale), int(h * y_scale)
        copy_to_fb = option(args, kwargs, 3, "copy_to_fb", False)
        owner = None
        if isinstance(copy_to_fb, Image):
            board.point("image")
            owner = copy_to_fb._take_shape(w, h, self._bpp)
        new = Image(w, h, self._bpp, owner or pixels(nbytes(w, h, self._bpp)), _POISON)
        self._give_pixels(new)
        return new

    def _part(self, args, kwargs):
        """(x, y, w, h) of the part that an argument names, cut to the image."""
        roi = option(args, kwargs, 0, "roi", (0, 0, self._w, self._h))
        return (max(roi[0], 0), max(roi[1], 0)) + k210_work.inside(self, roi)

    def draw_image(self, img, *place, **kwargs):
        """An image of the same format and size, drawn at (0, 0), is there afterwards; of others
        nothing is drawn."""
        board.alive()
        x, y = place[0] if isinstance(place[0], IN_ONE) else place[:2]
        if x == 0 == y and img._bpp == self._bpp:
            img._give_pixels(self)
        return self

    def _take_shape(self, w, h, bpp):
        """The shim's own: become the target of copy(copy_to_fb=self), which keeps the block and
        changes the size."""
        if nbytes(w, h, bpp) > self.size():
            raise OSError(_NO_FIT)
        self._become(w, h, bpp)
        return self._owner

    def _give_pixels(self, new):
        """Pixels go over to an image that has exactly as many; a part or another scale of them
        stays black. Takes none of the heap."""
        source, target = self._data(), new._data()
        if len(source) == len(target) and new._w == self._w:
            target[_WHOLE] = source

    def crop(self, *args, **kwargs):
        """In place, through a scratch block of the system heap; what it returns shares the pixels
        and is a trap."""
        x, y, w, h = self._part(args, kwargs)
        board.point("image.crop")
        k210_work.use((self.size(),))
        part = Image(w, h, self._bpp, self._owner, _POISON)
        self._become(w, h, self._bpp)
        return part

    def resize(self, w, h):
        if self._bpp == BINARY:
            return None
        new = Image(w, h, self._bpp, pixels(nbytes(w, h, self._bpp)))
        self._give_pixels(new)
        return new

    def cut(self, x, y, w, h=None):
        if h is None:  # the firmware reads one argument more than it was given
            raise TypeError("can't convert  to int")
        if self._bpp == BINARY:
            return None
        new = Image(w, h, self._bpp, pixels(nbytes(w, h, self._bpp)))
        self._give_pixels(new)
        return new

    def to_grayscale(self, *args, **kwargs):
        copy = option(args, kwargs, 0, "copy", False)
        return self._convert(GRAYSCALE, copy, "grayscale")

    def to_rgb565(self, *args, **kwargs):
        copy = option(args, kwargs, 0, "copy", False)
        return self._convert(RGB565, copy, "rgb565")

    def to_rainbow(self, *args, **kwargs):
        copy = option(args, kwargs, 0, "copy", False)
        return self._convert(RGB565, copy, "rainbow")

    def to_bitmap(self, *args, **kwargs):
        copy = option(args, kwargs, 0, "copy", False)
        return self._convert(BINARY, copy, "bitmap")

    def _convert(self, bpp, copy, what):
        board.alive()
        if not copy:
            if bpp > self._bpp:
                raise OSError("Can't convert to %s in place!" % what)
            self._become(self._w, self._h, bpp)
            return Image(self._w, self._h, bpp, self._owner, self._ai)
        owner = pixels(nbytes(self._w, self._h, bpp))
        return Image(self._w, self._h, bpp, owner, _copy(self._w * self._h * 3))

    def _pooled(self, x_div, y_div):
        """(w, h) of what pooling makes of it."""
        for what, n, most in (("Width", x_div, self._w), ("Height", y_div, self._h)):
            if as_int(n) < 1:
                raise OSError("%s divisor must be greater than >= 1" % what)
            if n > most:
                raise OSError("%s divisor must be less than <= img %s" % (what, what.lower()))
        return self._w // x_div, self._h // y_div

    def mean_pool(self, x_div, y_div, *args, **kwargs):
        w, h = self._pooled(x_div, y_div)
        self._become(w, h, self._bpp)
        return self

    def mean_pooled(self, x_div, y_div, *args, **kwargs):
        w, h = self._pooled(x_div, y_div)
        return Image(w, h, self._bpp, pixels(nbytes(w, h, self._bpp)))

    midpoint_pool, midpoint_pooled = mean_pool, mean_pooled

    def chrominvar(self):
        board.alive()
        if self._bpp != RGB565:
            raise OSError(_NOT_SUPPORTED)
        return self

    illuminvar = chrominvar

    def ai_to_pix(self):
        board.alive()

    def _packed_size(self, args, kwargs):
        """Bytes of a JPEG of this image, of which nothing is packed: as of a black one, or of one
        full of detail."""
        quality = option(args, kwargs, 0, "quality", jpeg.QUALITY)
        of = jpeg.detailed if board.state.detail else jpeg.black
        return of(self._w, self._h, self._bpp, quality)

    def compress(self, *args, **kwargs):
        """In place, through the biggest scratch block of the system heap."""
        board.point("image.compress")
        if self._bpp == JPEG:
            raise OSError(_NOT_SUPPORTED)
        k210_work.use((k210_work.ALL,))
        self._pack(min(self._packed_size(args, kwargs), self.size()))
        return self

    def compressed(self, *args, **kwargs):
        board.point("image.compress")
        if self._bpp == JPEG:
            raise OSError(_NOT_SUPPORTED)
        k210_work.use((k210_work.ALL,))
        n = self._packed_size(args, kwargs)
        new = Image(self._w, self._h, self._bpp, pixels(n))
        new._pack(n)
        return new

    def draw_font(self, *place, **kwargs):
        """A character of dots: only its size is looked at."""
        board.alive()
        _x, _y, w, h, dots = place[0] if isinstance(place[0], IN_ONE) else place[:5]
        if w % 8 or w > _FONT_W:
            raise OSError("Error: font arg_w_font %% 8 == 0 && arg_w_font <= 32!")
        if w // 8 * (h // 8) * 8 != len(dots):
            raise OSError("Error: font (arg_w_font / 8) * (arg_h_font / 8) * 8 == font_len!")
        return self

    def save(self, path, *args, **kwargs):
        """Writes a picture of the right size and nothing in it."""
        board.point("image.save")
        name = path if isinstance(path, str) else str(path, "utf-8")
        k210_pictures.save(self, name, *self._part(args, kwargs)[2:])
        return self

    get_statistics = get_stats = statistics = k210_statistics.of_image
    get_histogram = get_hist = histogram = k210_statistics.bins_of_image


def buffer_of(value):
    """What lies in memory of an image; any other value is itself."""
    return value._data() if isinstance(value, Image) else value


for _name, _method in k210_work.methods().items():
    setattr(Image, _name, _method)
