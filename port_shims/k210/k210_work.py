# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the image functions of the firmware take from the system heap while they run, and give back.

Measured on the firmware (v0.6.2_84, full): every malloc and free of one call.  Nothing is computed; what would be found
is not found."""

import k210_board as board

ALL = -1  # the largest block that the firmware asks for, a figure of the build
FREE = 0  # gives the latest block back


def _image(img):
    return (img.size(),)


def _row(img):
    return (img._w * img._bpp * 2,)


def _mask(img):
    return ((img._w + 31) // 32 * 4 * img._h,)


def _gray(img):
    """A gray copy, which an image that is gray already does without."""
    return () if img._bpp == 1 else (img._w * img._h,)


def _kernel(img):
    return (32, 64) + _row(img)


def _edges(img):
    return (4 * img._w * img._h,)


def _lines(img):
    """The Hough table: 182 angles, distances up to the diagonal both ways."""
    diagonal = int((img._w * img._w + img._h * img._h) ** 0.5)
    return (4 * 182 * (2 * diagonal + 1),)


def _circles(img):
    w, h = img._w, img._h
    sizes = [2 * w * h, 2 * w * h]
    for r in range(2, min(w, h) // 2, 2):
        sizes += [4 * (w - 2 * r + 2) * (h - 2 * r + 2), FREE]
    return sizes


def _statistics(img):
    return (1024,) if img._bpp == 1 else (416, 1024, 1024)


# {name of a method: blocks of one call}; a block is rounded up to 32 bytes.
WORK = {
    "binary": _mask,
    "dilate": _row,
    "erode": _row,
    "find_barcodes": lambda img: _gray(img) + (ALL,),
    "find_blobs": lambda img: _mask(img) + (ALL,),
    "find_circles": _circles,
    "find_datamatrices": lambda img: _gray(img) + (ALL,),
    "find_edges": _edges,
    "find_line_segments": lambda img: (img._w * img._h, ALL),
    "find_lines": _lines,
    "find_qrcodes": lambda img: (7712, img._w * img._h),
    "flood_fill": lambda img: _mask(img) + (ALL,),
    "gaussian": _kernel,
    "gaussian_blur": _kernel,
    "blur": _kernel,
    "histeq": lambda img: (1024,),
    "laplacian": _kernel,
    "lens_corr": _image,
    "linpolar": _image,
    "logpolar": _image,
    "mean": _row,
    "median": lambda img: _row(img) + ((64,) if img._bpp == 1 else (64, 64, 64)),
    "midpoint": _row,
    "mode": _row,
    "morph": lambda img: (32,) + _row(img),
    "remove_shadows": lambda img: _image(img) + _statistics(img),
    "replace": _image,
    "rotation_corr": lambda img: (8000,) + _image(img),
}
_NO_ROOM = (
    "Out of Memory! Please reduce the resolution of the image you are running this algorithm on to bypass this "
    "issue!"
)
_NOT_EVEN = "Too many fb_alloc! no space save! try again or reduce img size!"


def use(sizes, meanwhile=None):
    """Takes the blocks in turn and gives them back; MemoryError, in the firmware's words, when one does not fit.

    `meanwhile` is called while all are held.

    As on the board, what was taken before the one that failed is not given back."""
    held = []
    for n in sizes:
        if n == FREE:
            board.heap.free(held.pop())
            continue
        block = board.heap.malloc(board.state.firmware.fb_all if n == ALL else (n + 31) & ~31)
        if not block:
            raise MemoryError(_NOT_EVEN if n == ALL else _NO_ROOM)
        held.append(block)
    if meanwhile:
        meanwhile()
    while held:
        board.heap.free(held.pop())


def methods():
    """{name: method of an image}: in-place functions give the image, finders an empty list."""
    return {name: _method(name) for name in WORK}


def _method(name):
    point = "image." + name

    def method(img, *args, **kwargs):
        board.point(point)
        img._touched()
        use(WORK[name](img))
        return [] if name[:5] == "find_" and name != "find_edges" else img

    return method
