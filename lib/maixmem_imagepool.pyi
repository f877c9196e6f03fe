# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from typing import Any

from maixmem_pool import _Pool

class ImagePool(_Pool):
    w: int
    h: int
    format: str
    ai: bool
    replaced: int
    def __init__(
        self, w: int, h: int, format: str = "rgb565", count: int = 2, ai: bool = False
    ) -> None: ...
    def take(self, src: Any, tag: Any = True) -> Any: ...
