# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How many bytes an image, a camera or a display takes, on each platform.

    image_bytes(320, 240, "rgb565")             153600 on MaixPy
    image_bytes(320, 240, "rgb565_ai")          230400 more for pix_to_ai()
    camera_bytes(320, 240)                      384000

Numbers only: nothing here touches a board, and it runs on any of them. The rules of the Linux
platforms are in maixmem_maixcam.images and maixmem_ascend.images.
"""

from maixmem import message


# How a platform lays out an image. `formats` is {name: (pixel unit, bits of a pixel in a row,
# planes, per)}: a row is `w` rounded up to the pixel unit, times the bits, in bytes, rounded up to
# `row` bytes; there are `h` rows rounded up to `rows`; the image is row * rows * planes / per
# bytes, and `extra`. Its memory starts at a multiple of `start`; several in one block lie `gap`
# bytes and that rounding apart.
class ImageRule:
    """The stride and height rules of one platform, as data."""

    def __init__(self, formats, start=1, row=1, rows=1, extra=0):
        self.formats = formats
        self.start = start
        self.row = row
        self.rows = rows
        self.extra = extra
        self.gap = 0


def formats(text, unit=1):
    """ "name:bits:planes:per ..." as the table of an ImageRule, every format with the same pixel
    unit."""
    table = {}
    for entry in text.split():
        name, bits, planes, per = entry.split(":")
        table[name] = (unit, int(bits), int(planes), int(per))
    return table


# MaixPy v1, pixels in the GC heap. The AI copy that pix_to_ai() makes is a second block:
# "rgb565_ai" (three planes, rows of whole 64 pixels) or "gray_ai". A gray image made by
# to_grayscale() keeps its rgb565 block. (source of imlib; 153600, 230400 and 19200 bytes measured
# on the firmware v0.6.2_84)
MAIXPY = ImageRule(formats("rgb565:16:1:1 gray:8:1:1 gray_ai:8:1:1 bayer:8:1:1"))
MAIXPY.formats["binary"] = (32, 1, 1, 1)
MAIXPY.formats["rgb565_ai"] = (64, 24, 1, 1)

# OpenMV: the same without AI copies, and yuv422.
OPENMV = ImageRule(formats("rgb565:16:1:1 gray:8:1:1 bayer:8:1:1 yuv422:16:1:1"))
OPENMV.formats["binary"] = (32, 1, 1, 1)

# CanMV K230: packed rows; no page of its manual names a padding, none was measured.
K230 = ImageRule(formats("rgb565:16:1:1 gray:8:1:1 rgb888:24:1:1 argb8888:32:1:1 yuv420:8:3:2"))

# CircuitPython displayio.Bitmap: rows of whole 32-bit words; bitmap_format() gives the name.
CIRCUITPYTHON = ImageRule(
    formats("1bit:1:1:1 2bit:2:1:1 4bit:4:1:1 8bit:8:1:1 16bit:16:1:1"), row=4
)


def _up(n, unit):
    return (n + unit - 1) // unit * unit


def _sides(w, h):
    for n in (w, h):
        if not isinstance(n, int) or n < 1:
            raise ValueError(message("image_size", w, h))


def strides(w, h, format, rule=MAIXPY):
    """(bytes of a row, rows) as the platform lays them out. ValueError for a format it does not
    have."""
    _sides(w, h)
    if format not in rule.formats:
        raise ValueError(message("format", format, ", ".join(sorted(rule.formats))))
    unit, bits = rule.formats[format][:2]
    return _up((_up(w, unit) * bits + 7) // 8, rule.row), _up(h, rule.rows)


def image_bytes(w, h, format, rule=MAIXPY):
    """The bytes that one image takes under a rule."""
    row, rows = strides(w, h, format, rule)
    planes, per = rule.formats[format][2:]
    return row * rows * planes // per + rule.extra


def pool_bytes(nbytes, count, rule=MAIXPY):
    """The bytes of one block for `count` images of `nbytes`, each at the start that the rule asks
    for."""
    return nbytes + (count - 1) * _up(nbytes + rule.gap, rule.start)


def bitmap_format(value_count):
    """The format name of a CircuitPython Bitmap with so many values: 1, 2, 4, 8 or 16 bits."""
    if not 1 <= value_count <= 65536:
        raise ValueError("a bitmap has 1 to 65536 values, not {}".format(value_count))
    bits = 1
    while (value_count - 1) >> bits:
        bits *= 2
    return "{}bit".format(bits)


def camera_bytes(w, h, dual_buff=False):
    """MaixPy: bytes of system heap that sensor.set_framesize() allocates: frame and its three AI
    planes, 5*w*h."""
    _sides(w, h)
    one = _up(2 * w * h, 128) + _up(3 * w * h, 64)
    return 2 * one if dual_buff else one


def lcd_bytes(w=320, h=240):
    """MaixPy: bytes of system heap that lcd.init() allocates, one rgb565 frame."""
    _sides(w, h)
    return 2 * w * h
