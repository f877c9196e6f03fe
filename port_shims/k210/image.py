# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's image module: the memory and the traps of image.Image, no image processing."""

import k210_board as board
import k210_image


def Image(*args, **kwargs):
    """Image(), Image(size=(w, h)) or Image(path): a function on this firmware, not a class."""
    board.alive()
    if args and not isinstance(args[0], (str, bytes, bytearray)):
        raise TypeError("object '%s' isn't a tuple or list" % type(args[0]).__name__)
    size = kwargs.get("size", (320, 240))
    if not isinstance(size, (tuple, list)):
        raise TypeError("object '%s' isn't a tuple or list" % type(size).__name__)
    w, h = size
    if kwargs.get("copy_to_fb") is True and not board.state.blocks.get("sensor"):
        return k210_image.Image(w, h, k210_image.RGB565, None)
    return k210_image.Image(w, h, k210_image.RGB565, k210_image.pixels(2 * w * h))
