# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the image functions of the firmware take from the system heap while they run, and give
back.

Measured on the firmware (v0.6.2_84, full): every malloc and free of one call. Nothing is computed;
what would be found is not found."""

from k210_model.values import Any, as_int, as_tuple, option, type_name

ALL = -1  # the largest block that the firmware asks for, a figure of the build: `most`
FREE = 0  # gives the latest block back


_COLORS = (128, 256, 128)  # a histogram of each channel of RGB565, of 4 bytes a count


def inside(img: Any, roi: Any) -> tuple:
    """(w, h) of a part of an image, cut to it; OSError where there is nothing left."""
    x, y, w, h = [as_int(n) for n in as_tuple(roi, 4)]
    if w < 1 or h < 1:
        raise OSError("Invalid ROI dimensions!")
    w, h = min(x + w, img._w) - max(x, 0), min(y + h, img._h) - max(y, 0)
    if w < 1 or h < 1:
        raise OSError("ROI does not overlap on the image!")
    return w, h


def _roi(img: Any, args: tuple, kwargs: dict, at: int = 0) -> tuple:
    """(w, h) of the part of an image that is looked at: an argument, by place or by name, cut to
    the image."""
    return inside(img, option(args, kwargs, at, "roi", (0, 0, img._w, img._h)))


def _number(args: tuple, kwargs: dict, at: int, name: str, default: Any) -> int:
    return as_int(option(args, kwargs, at, name, default))


def _strided(img: Any, args: tuple, kwargs: dict, at: int = 0) -> tuple:
    """(w, h) of the part that is looked at, behind which stand the steps from pixel to pixel."""
    size = _roi(img, args, kwargs, at)
    for i, name in enumerate(("x_stride", "y_stride"), at + 1):
        if _number(args, kwargs, i, name, 1) == 0:
            raise OSError("%s must not be zero." % name)
    return size


def _image(img: Any, args: tuple, kwargs: dict) -> tuple:
    return (img.size(),)


def _line(img: Any) -> int:
    """Bytes of one line of pixels."""
    return img._w * img._bpp or (img._w + 31) // 32 * 4


def _rows(img: Any, args: tuple, kwargs: dict) -> tuple:
    """The lines that a filter of so many pixels each way looks back to."""
    return ((as_int(args[0]) + 1) * _line(img),)


def _square(args: tuple) -> int:
    """The numbers of a kernel, or the pixels below it."""
    side = 2 * as_int(args[0]) + 1
    return 4 * side * side


def _weights(args: tuple) -> int:
    """The numbers of a kernel that is given."""
    n = _square(args)
    as_tuple(args[1], n // 4)
    return n


def _kernel(img: Any, args: tuple, kwargs: dict) -> tuple:
    side = 2 * as_int(args[0]) + 1
    return (4 * side, _square(args)) + _rows(img, args, kwargs)


def _median(img: Any, args: tuple, kwargs: dict) -> tuple:
    return _rows(img, args, kwargs) + (_square(args),) * (3 if img._bpp == 2 else 1)


def _counts(img: Any, args: tuple, kwargs: dict) -> tuple:
    return _COLORS if img._bpp == 2 else (1024,) if img._bpp else (8,)


def _mode(img: Any, args: tuple, kwargs: dict) -> tuple:
    return _rows(img, args, kwargs) + _counts(img, args, kwargs)


def _twice(img: Any, args: tuple, kwargs: dict) -> tuple:
    rows = _rows(img, args, kwargs)
    return rows + (FREE,) + rows + (FREE,)


def _mask(img: Any, args: tuple, kwargs: dict) -> tuple:
    return ((img._w + 31) // 32 * 4 * img._h,)


def _gray(img: Any, w: int, h: int) -> tuple:
    """A gray copy, which an image that is gray already does without."""
    return () if img._bpp == 1 else (w * h,)


def _codes(img: Any, args: tuple, kwargs: dict) -> tuple:
    return _gray(img, *_roi(img, args, kwargs)) + (ALL,)


def _blobs(img: Any, args: tuple, kwargs: dict) -> tuple:
    _strided(img, args, kwargs, 2)
    return ((img._w * img._h + 7) // 8, ALL)


def _regression(img: Any, args: tuple, kwargs: dict) -> tuple:
    _strided(img, args, kwargs, 2)
    if not args[0] or not _number(args, kwargs, 7, "robust", 0):
        return ()
    return (4 * img._w, 4 * img._h, 16 * img._w, 16 * img._h, ALL)


def _edges(img: Any, args: tuple, kwargs: dict) -> tuple:
    if img._bpp != 1:
        raise OSError(_NOT_SUPPORTED)
    w, h = _roi(img, args, kwargs, 1)
    if as_int(args[0]):
        return (2 * w, FREE) + _mask(img, args, kwargs) + (FREE, 2 * w)
    return (4 * w * h,)


def _diagonal(w: int, h: int) -> int:
    return int((w * w + h * h) ** 0.5)


def _lines(img: Any, args: tuple, kwargs: dict) -> tuple:
    """The Hough table: 182 angles, distances up to the diagonal both ways."""
    return (4 * 182 * (2 * _diagonal(*_strided(img, args, kwargs)) + 1),)


def _segments(img: Any, args: tuple, kwargs: dict) -> tuple:
    w, h = _roi(img, args, kwargs)
    return (w * h, ALL)


def _circles(img: Any, args: tuple, kwargs: dict) -> list:
    w, h = _strided(img, args, kwargs)
    least = max(2, _number(args, kwargs, 7, "r_min", 2))
    most = min(w // 2, h // 2, _number(args, kwargs, 8, "r_max", w))
    sizes = [2 * w * h, 2 * w * h]
    for r in range(least, most, max(1, _number(args, kwargs, 9, "r_step", 2))):
        sizes += [4 * (w - 2 * r + 2) * (h - 2 * r + 2), FREE]
    return sizes


def _qrcodes(img: Any, args: tuple, kwargs: dict) -> tuple:
    w, h = _roi(img, args, kwargs)
    return (7712, w * h)


def _quads(w: int, h: int, planes: int) -> list:
    """What looking for squares takes: all that is left of the largest block for a heap of its own,
    copies, tiles of 4."""
    n, tiles = w * h, (w // 4) * (h // 4)
    found = [(n, planes), n, 32, n, tiles, tiles, tiles, tiles, FREE, FREE, FREE, FREE]
    return found + [32, 8 * n + 8, ALL, FREE, FREE, FREE, FREE, FREE]


def _apriltags(img: Any, args: tuple, kwargs: dict) -> list:
    w, h = _roi(img, args, kwargs)
    if w * h >= 65536:
        raise OSError(_TOO_LARGE)
    return _quads(w, h, 5)


def _rects(img: Any, args: tuple, kwargs: dict) -> list:
    w, h = _roi(img, args, kwargs)
    side = 8 * _diagonal(w, h)
    return _quads(w, h, 8) + [side, side, 2 * side]


def _features(img: Any, args: tuple, kwargs: dict) -> list:
    """Two sums of the pixels in front, as many lines of them as the cascade's window has and one;
    without a cascade: of the larger one of the firmware."""
    if args and type_name(args[0]) != "Cascade":
        raise TypeError("Can't convert %s to type" % type_name(args[0]))
    window = args[0]._about[:2] if args else (24, 24)
    w, h = _roi(img, args, kwargs, 3)
    if w <= window[0] or h <= window[1]:
        raise OSError(_NO_WINDOW)
    lines = window[1] + 1
    return 2 * ([8 * lines, 8 * lines] + lines * [4 * w])


def _tiles(side: int) -> int:
    """In how many a side is parted: a power of two, none smaller than 32 pixels, at least two."""
    n = 2
    while n < 16 and side >= 64 * n:
        n *= 2
    return n


def _histeq(img: Any, args: tuple, kwargs: dict) -> tuple:
    if not _number(args, kwargs, 0, "adaptive", 0):
        return (1024,)
    nx, ny = _tiles(img._w), _tiles(img._h)
    return (-(-img._w // nx) * nx * -(-img._h // ny) * ny, 2048 * nx * ny)


def _shadows(img: Any, args: tuple, kwargs: dict) -> tuple:
    if img._bpp != 2:
        raise OSError(_NOT_SUPPORTED)
    return (2 * img._w,) * 9 if args else (img.size(), 416, 1024, 1024)


def _other(img: Any, args: tuple, kwargs: dict) -> tuple:
    """The other side of a sum: an image, or a line of one color."""
    return () if type(args[0]).__name__ == "Image" else (_line(img),)


def _replaced(img: Any, args: tuple, kwargs: dict) -> tuple:
    return _other(img, args, kwargs) if args and args[0] is not img else (img.size(),)


# {name of a method: blocks of one call}, in bytes, ALL, FREE, or (n, planes): as many whole n as
# ALL leaves beside so many of them.
WORK = {
    "assign": _replaced,
    "bilateral": lambda img, args, kwargs: _mode(img, args, kwargs) + (_square(args),),
    "binary": _mask,
    "black_hat": lambda img, args, kwargs: (img.size(),) + _twice(img, args, kwargs),
    "blend": _other,
    "blur": _kernel,
    "cartoon": lambda img, args, kwargs: 2 * _mask(img, args, kwargs) + (ALL, FREE, ALL),
    "close": _twice,
    "dilate": _rows,
    "erode": _rows,
    "find_apriltags": _apriltags,
    "find_barcodes": _codes,
    "find_blobs": _blobs,
    "find_circles": _circles,
    "find_datamatrices": _codes,
    "find_edges": _edges,
    "find_features": _features,
    "find_line_segments": _segments,
    "find_lines": _lines,
    "find_qrcodes": _qrcodes,
    "find_rects": _rects,
    "flood_fill": lambda img, args, kwargs: _mask(img, args, kwargs) + (ALL,),
    "gamma_corr": _counts,
    "gaussian": _kernel,
    "gaussian_blur": _kernel,
    "get_regression": _regression,
    "histeq": _histeq,
    "laplacian": _kernel,
    "lens_corr": _image,
    "linpolar": _image,
    "logpolar": _image,
    "mean": _rows,
    "median": _median,
    "midpoint": _rows,
    "mode": _mode,
    "morph": lambda img, args, kwargs: (_weights(args),) + _rows(img, args, kwargs),
    "open": _twice,
    "remove_shadows": _shadows,
    "replace": _replaced,
    "rotation_corr": lambda img, args, kwargs: (8000, img.size()),
    "set": _replaced,
    "top_hat": lambda img, args, kwargs: (img.size(),) + _twice(img, args, kwargs),
}
for _name in ("add", "sub", "mul", "div", "min", "max", "difference"):
    WORK[_name] = _other
OF_TWO = (_other, _replaced)  #: rows whose first argument is another image, or the name of one
_NOT_SUPPORTED = "Image format is not supported!"
_NO_WINDOW = "Region of interest is smaller than detector window!"
_TOO_LARGE = "The maximum supported resolution for find_apriltags() is < 64K pixels."


def block_bytes(size: Any, most: int) -> int:
    """Bytes of a block of WORK, where ALL is `most`: a block is rounded up to 32 bytes."""
    if isinstance(size, tuple):
        n, planes = size
        return most // n * n - planes * n
    return most if size == ALL else (size + 31) & ~31
