# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

_Formats = dict[str, tuple[int, int, int, int]]

class ImageRule:
    formats: _Formats
    start: int
    row: int
    rows: int
    extra: int
    gap: int
    def __init__(
        self, formats: _Formats, start: int = 1, row: int = 1, rows: int = 1, extra: int = 0
    ) -> None: ...

def formats(text: str, unit: int = 1) -> _Formats: ...

MAIXPY: ImageRule
OPENMV: ImageRule
K230: ImageRule
CIRCUITPYTHON: ImageRule

def strides(w: int, h: int, format: str, rule: ImageRule = ...) -> tuple[int, int]: ...
def image_bytes(w: int, h: int, format: str, rule: ImageRule = ...) -> int: ...
def pool_bytes(nbytes: int, count: int, rule: ImageRule = ...) -> int: ...
def bitmap_format(value_count: int) -> str: ...
def camera_bytes(w: int, h: int, dual_buff: bool = False) -> int: ...
def lcd_bytes(w: int = 320, h: int = 240) -> int: ...
