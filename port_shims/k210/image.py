# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's image module: the memory and the traps of image.Image, no image processing."""

import k210_board as board
import k210_image
import k210_pictures
from k210_args import as_tuple


def Image(*args, **kwargs):
    """Image(), Image(size=(w, h)) or Image(path): a function on this firmware, not a class."""
    board.alive()
    if args:
        return _from_argument(args)
    w, h = as_tuple(kwargs.get("size", (320, 240)), 2)
    if kwargs.get("copy_to_fb"):
        camera = board.state.sensor
        if not board.state.blocks.get("sensor"):
            return k210_image.Image(w, h, k210_image.RGB565, None)
        return k210_image.Image(w, h, k210_image.RGB565, camera, camera)
    return k210_image.Image(w, h, k210_image.RGB565, k210_image.pixels(2 * w * h))


def _from_argument(args):
    if isinstance(args[0], str):
        board.point("image file")
        w, h, bpp = k210_pictures.shape(args[0])
        return k210_image.Image(w, h, bpp, k210_image.pixels(k210_image.nbytes(w, h, bpp)))
    if len(args) > 1:
        as_tuple(args[1])
    elif not isinstance(args[0], (bytes, bytearray)):
        board.crash(
            "image.Image(%r) takes the value for an address" % (args[0],),
            "use image.Image(size=(w, h))",
        )
    raise NotImplementedError("the stand-in decodes no pictures")
