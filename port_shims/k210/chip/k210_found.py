# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What find_blobs() and get_regression() find in a black picture: all of the part that they
search, where a threshold has black. Measured on the firmware (v0.6.2_84, full)."""

from k210_args import as_int, as_tuple, option
from k210_parts import Part, keep

_LEAST = 10  # pixels, in all and of the frame around them, without another threshold
_INVERT, _ROI, _X_STRIDE, _Y_STRIDE, _AREA, _PIXELS, _JUDGE = 1, 2, 3, 4, 5, 6, 9
_ROOM = 20  # words of a list that has room for the bytes of one blob
_RGB565 = 2


# Contract. What is found: numbers by name and by place. As large as the board's: `blob` 128 bytes,
# `line` 96.
class _Found(Part):
    def __getitem__(self, at):
        values = tuple([getattr(self, name)() for name in self.fields])
        if not isinstance(at, slice) and not -len(values) <= at < len(values):
            raise IndexError("%s index out of range" % type(self).__name__)
        return values[at]

    def __iter__(self):
        raise TypeError("'%s' object isn't iterable" % type(self).__name__)

    def __repr__(self):
        shown = ['"%s":%s' % (name, getattr(self, name)()) for name in self.fields]
        return "{" + ", ".join(shown) + "}"


class blob(_Found):
    fields = ("x", "y", "w", "h", "pixels", "cx", "cy", "rotation", "code", "count")

    def __init__(self, x, y, w, h, code):
        for name, value in (("_x", x), ("_y", y), ("_w", w - 1), ("_h", h - 1), ("_code", code)):
            keep(self, name, value)

    def x(self):
        return self._x

    def y(self):
        return self._y

    def w(self):
        return self._w

    def h(self):
        return self._h

    def rect(self):
        return self._x, self._y, self._w, self._h

    def pixels(self):
        return (self._w + 1) * (self._h + 1)

    def area(self):
        return self._w * self._h

    def density(self):
        return self.pixels() / self.area()

    def cx(self):
        return self._x + self._w // 2

    def cy(self):
        return self._y + self._h // 2

    def rotation(self):
        return 0.0 if self._w >= self._h else 1.570796

    def code(self):
        return self._code

    def count(self):
        return 1


class line(_Found):
    fields = ("x1", "y1", "x2", "y2", "length", "magnitude", "theta", "rho")

    def __init__(self, x, y, w, h):
        wide = w > h
        x1, y1 = (x, y + (h - 1) // 2) if wide else (x + (w - 1) // 2, y)
        x2, y2 = (x + w - 1, y1) if wide else (x1, y + h - 1)
        for name, value in (("_x1", x1), ("_y1", y1), ("_x2", x2), ("_y2", y2)):
            keep(self, name, value)

    def x1(self):
        return self._x1

    def y1(self):
        return self._y1

    def x2(self):
        return self._x2

    def y2(self):
        return self._y2

    def line(self):
        return self._x1, self._y1, self._x2, self._y2

    def length(self):
        return self._x2 - self._x1 + self._y2 - self._y1

    def magnitude(self):
        return 0

    def theta(self):
        return 90 if self._y1 == self._y2 else 0

    def rho(self):
        return self._y1 if self._y1 == self._y2 else self._x1


def _code(img, args, kwargs):
    """The bit of the first threshold that has black, or 0."""
    invert = bool(option(args, kwargs, _INVERT, "invert", False))
    channels = 3 if img._bpp == _RGB565 else 1
    thresholds = [t for t in as_tuple(args[0]) if as_tuple(t)]
    for i, threshold in enumerate(thresholds):
        bounds = [as_int(n) for n in threshold[: 2 * channels]]
        if len(bounds) % 2:
            bounds.append(255)
        pairs = zip(bounds[::2], bounds[1::2])
        if invert != all(min(pair) <= 0 <= max(pair) for pair in pairs):
            return 1 << i
    return 0


def _searched(img, args, kwargs, strides=(1, 1)):
    """(x, y, w, h) of a part of a black picture, of which one pixel of so many each way counts;
    None where that is too little to be found."""
    x, y, w, h = option(args, kwargs, _ROI, "roi", (0, 0, img._w, img._h))
    w, h = min(x + w, img._w) - max(x, 0), min(y + h, img._h) - max(y, 0)
    seen = -(-w // strides[0]) * -(-h // strides[1])
    enough = seen >= as_int(option(args, kwargs, _PIXELS, "pixels_threshold", _LEAST))
    area = as_int(option(args, kwargs, _AREA, "area_threshold", _LEAST))
    return (max(x, 0), max(y, 0), w, h) if enough and (w - 1) * (h - 1) >= area else None


def blobs(img, args, kwargs):
    """A list of one blob or, where another picture may have one, of none, with its bytes."""
    code, place = _code(img, args, kwargs), _searched(img, args, kwargs)
    if code and place:
        found = blob(*(place + (code,)))
        judge = option(args, kwargs, _JUDGE, "threshold_cb", None)
        return [found] if judge is None or judge(found) else []
    found = [None] * _ROOM
    del found[:]
    return found


def regression(img, args, kwargs):
    """The line through the middle of what is black, or None."""
    x_stride, y_stride = [
        as_int(option(args, kwargs, at, name, n))
        for at, name, n in ((_X_STRIDE, "x_stride", 2), (_Y_STRIDE, "y_stride", 1))
    ]
    place = _searched(img, args, kwargs, (x_stride, y_stride))
    return line(*place) if place and _code(img, args, kwargs) else None
