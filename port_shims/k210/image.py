# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's image module: the memory and the traps of image.Image, no image processing."""

import k210_board as board
import k210_files
import k210_image


def Image(*args, **kwargs):
    """Image(), Image(size=(w, h)) or Image(path): a function on this firmware, not a class."""
    board.alive()
    if args:
        _from_argument(args)
    size = kwargs.get("size", (320, 240))
    if not isinstance(size, (tuple, list)):
        raise TypeError("object '%s' isn't a tuple or list" % type(size).__name__)
    if len(size) != 2:
        raise ValueError("requested length 2 but object has length %d" % len(size))
    w, h = size
    if kwargs.get("copy_to_fb") is True and not board.state.blocks.get("sensor"):
        return k210_image.Image(w, h, k210_image.RGB565, None)
    return k210_image.Image(w, h, k210_image.RGB565, k210_image.pixels(2 * w * h))


def _from_argument(args):
    if isinstance(args[0], str):
        board.point("image file")
        if k210_files.source(args[0]) is None:
            raise OSError(5)
    elif len(args) > 1:
        raise TypeError("object '%s' isn't a tuple or list" % type(args[1]).__name__)
    elif not isinstance(args[0], (bytes, bytearray)):
        board.crash(
            "image.Image(%r) takes the value for an address" % (args[0],),
            "use image.Image(size=(w, h))",
        )
    raise NotImplementedError("the stand-in decodes no pictures")
