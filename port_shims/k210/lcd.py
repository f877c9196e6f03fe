# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's lcd module: the memory of the display buffer."""

import k210_board as board
import k210_image


def init(*args, **kwargs):
    board.point("lcd.init")
    board.lcd_init()


def deinit():
    board.point("lcd.deinit")
    board.free_blocks("lcd")


def display(img, *args, **kwargs):
    board.point("lcd.display")
    if not isinstance(img, k210_image.Image):
        raise TypeError("Can't convert %s to type" % type(img).__name__)


def draw_string(x, y, text, *args):
    """The text is drawn in a scratch block of its line."""
    board.point("lcd.draw_string")
    board.scratch((7680, 41))


def clear(*args):
    board.alive()


def rotation(*args):
    board.alive()
    return 0
