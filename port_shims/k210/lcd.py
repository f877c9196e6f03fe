# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's lcd module: the memory of the display buffer."""

import k210_board as board
import k210_image

# {type: (width, height)} of the displays that are not 320x240
_SIZES = {2: (240, 240), 5: (400, 240)}
_size = [320, 240]


def init(type=1, freq=0, color=None, width=0, height=0, *args, **kwargs):
    board.point("lcd.init")
    _size[:] = _SIZES.get(type, (320, 240))
    if width and height:
        _size[:] = width, height
    board.lcd_init(_size[0], _size[1])


def deinit():
    board.point("lcd.deinit")
    board.free_blocks("lcd")


def width():
    return _size[0]


def height():
    return _size[1]


def display(img, *args, **kwargs):
    board.point("lcd.display")
    if not isinstance(img, k210_image.Image):
        raise TypeError("Can't convert %s to type" % type(img).__name__)


def draw_string(x, y, text, *args):
    """The text is drawn in a scratch block of its line."""
    board.point("lcd.draw_string")
    board.scratch((24 * _size[0], _size[0] // 8 + 1))


def clear(*args, **kwargs):
    board.alive()


def rotation(*args):
    """A quarter turn changes width and height."""
    board.alive()
    return 0
