# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The system heap that the calls of a loop allocate while they run: free before and after.

The table of the image functions is k210_model.image_work, measured on the firmware (v0.6.2_84); it
holds for other builds that have the function. Those below were measured there too.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from k210_model.image_work import WORK, block_bytes

from maixmem_cli.kmodel.layers import read_layers

_PACK = ("compress", "compressed", "save_jpeg")
_TEXT = (7680, 41)  # of the display's width of 320: a line of letters, and its marks
OF_MODEL = ("run_yolo2",)  #: calls whose scratch follows from a model
WITHOUT_IMAGE = (*OF_MODEL, "lcd.draw_string")  #: whose scratch does not follow from an image
#: calls whose first argument is the size of their kernel: the smallest
_KERNEL = "mean median mode midpoint morph gaussian gaussian_blur blur laplacian erode dilate open"
_ARGS: dict[str, tuple[Any, ...]] = dict.fromkeys(_KERNEL.split(), (1,))
_ARGS.update(close=(1,), top_hat=(1,), black_hat=(1,), find_edges=(0,), morph=(1, (1,) * 9))
_WHOLE = (0, 0, 4096, 4096)
_ARGS["get_regression"] = (((0, 100),), False, _WHOLE, 2, 1, 10, 10, True)
_OF_TWO = ("add sub mul div min max difference blend replace assign set bilateral cartoon").split()
#: what a [[call]] can do; those that take one line of pixels, or a second image, are left out
CALLS = (
    *WITHOUT_IMAGE,
    *_PACK,
    *sorted(WORK.keys() - {*_OF_TWO, "remove_shadows"}),
)


def blocks(call: Any, most: int, file: Any) -> list[int]:
    """The mallocs of one call in turn, 0 where the latest is given back.

    `most` is what the build asks for where a call wants as much as it gets; `file` that of the
    call's model.
    """
    if call.nbytes:
        return [call.nbytes]
    if call.do in OF_MODEL:
        return _yolo(str(file), call.anchors)
    if call.do in _PACK:
        return [most]
    if call.do == "lcd.draw_string":
        return list(_TEXT)
    w, h = call.size
    depth = 1 if call.format == "gray" else 2
    img = SimpleNamespace(_w=w, _h=h, _bpp=depth, size=lambda: w * h * depth)
    sizes = WORK[call.do](img, arguments(call.do), {})
    return [n and block_bytes(n, most) for n in sizes]


def arguments(do: str) -> tuple[Any, ...]:
    """The arguments that the figures of a call are for."""
    return _ARGS.get(do, ())


def _yolo(file: str, anchors: int) -> list[int]:
    """Boxes, what each is of, their order: 16, 4 and 4 for each class, 8 bytes for each box."""
    _, layers = read_layers(file)
    conv = [layer.conv for layer in layers if layer.conv][-1:]
    if not conv or conv[0] is None or conv[0].out_c // anchors < 6:
        raise ValueError(f"{file}: its last layer is none of YOLO with {anchors} anchors")
    found = conv[0].out_w * conv[0].out_h * anchors
    return [16 * found, 4 * found * (conv[0].out_c // anchors - 4), 8 * found]
