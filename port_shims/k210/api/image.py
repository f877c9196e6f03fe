# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's image module: the memory and the traps of image.Image, no image
processing."""

import k210_board as board
import k210_image
import k210_pictures
from k210_args import as_tuple
from k210_model.values import Any
from k210_statistics import cascade as HaarCascade

_SIZE = (320, 240)  # of an image whose size is not given, or is none


def Image(*args: Any, **kwargs: Any) -> k210_image.Image:
    """Image(), Image(size=(w, h)) or Image(path): a function on this firmware, not a class."""
    board.alive()
    if args and "size" not in kwargs:
        return _from_argument(args)
    w, h = as_tuple(kwargs.get("size", _SIZE), 2)
    w, h = (w, h) if w > 0 and h > 0 else _SIZE
    if kwargs.get("copy_to_fb"):
        camera = board.state.sensor
        if not board.state.blocks.get("sensor"):
            return k210_image.Image(w, h, k210_image.RGB565, None)
        return k210_image.Image(w, h, k210_image.RGB565, camera, camera)
    return k210_image.Image(w, h, k210_image.RGB565, k210_image.pixels(2 * w * h))


def _from_argument(args: Any) -> k210_image.Image:
    if len(args) > 1:
        as_tuple(args[1])
    name = str(args[0], "utf-8") if isinstance(args[0], bytes) else args[0]
    if isinstance(name, str):
        board.point("image file")
        w, h, bpp = k210_pictures.shape(name)
        return k210_image.Image(w, h, bpp, k210_image.pixels(k210_image.nbytes(w, h, bpp)))
    if len(args) < 2 and not isinstance(name, bytearray):
        board.crash(
            "image.Image(%r) takes the value for an address" % (args[0],),
            "use image.Image(size=(w, h))",
        )
    raise NotImplementedError("the stand-in decodes no pictures")


def font_load(kind: Any, w: Any, h: Any, source: Any, *args: Any, **kwargs: Any) -> None:
    """A font by its address or the name of its file: only these are looked at."""
    board.alive()
    if isinstance(source, str) and ".Dzk" not in source:
        raise ValueError("[MAIXPY]image: font format don't match, only supply .Dzk ")
    if isinstance(source, int) and source <= 0:
        raise ValueError("[MAIXPY]image: font_addr must > 0 ")


def get_affine_transform(source: Any, target: Any) -> tuple:
    board.alive()
    for points in (source, target):
        if not isinstance(points, (tuple, list)):
            raise OSError("Need input [[x0,y0],[x1,y1],...]")
    if len(source) != len(target):
        raise OSError("src len must equal with dst len")
    return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def warp_affine_ai(source: Any, target: Any, matrix: Any) -> None:
    board.alive()
    if not (source._has_ai() and target._has_ai()):
        raise ValueError("only support ai image affine")
