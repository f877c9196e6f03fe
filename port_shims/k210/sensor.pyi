# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
# MaixPy v1 (v0.6.2_84): the camera.
from collections.abc import Sequence

from image import Image

BAYER: int
RGB565: int
YUV422: int
GRAYSCALE: int
JPEG: int
QQQQVGA: int
QQQVGA: int
QQVGA: int
QVGA: int
VGA: int
HQQQVGA: int
HQQVGA: int
HQVGA: int
B64X32: int
B64X64: int
B128X64: int
B128X128: int
B240X240: int
LCD: int
QQVGA2: int
WVGA: int
WVGA2: int
SVGA: int
SXGA: int
UXGA: int
QQCIF: int
QCIF: int
CIF: int
QQSIF: int
QSIF: int
SIF: int

def reset(
    *, freq: int = ..., set_regs: bool = True, choice: int = 0, dual_buff: bool = False
) -> None: ...
def deinit() -> None: ...
def set_pixformat(pixformat: int) -> bool: ...
def set_framesize(size: int) -> None: ...
def set_windowing(window: Sequence[int]) -> bool: ...
def run(enable: int) -> bool: ...
def skip_frames(n: int = ..., *, time: int = ...) -> None: ...
def width() -> int: ...
def height() -> int: ...
def snapshot() -> Image: ...
