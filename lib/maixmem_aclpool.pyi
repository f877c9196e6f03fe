# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from typing import Any, Literal

from maixmem_acl import Buffer, Memory
from maixmem_arena import Arena
from maixmem_image import ImageRule
from maixmem_pool import BufferPool

class DevicePool:
    arena: Arena
    def __init__(
        self,
        memory: Memory,
        nbytes: int,
        kind: Literal["device", "host", "dvpp"] = "device",
        pieces: int = 64,
    ) -> None: ...
    def alloc(self, nbytes: int) -> Buffer: ...
    def free(self, piece: Buffer) -> None: ...
    def close(self) -> None: ...

class Picture(Buffer):
    def __init__(self, ptr: int, size: tuple[int, int, str, int], pool: Any) -> None: ...
    def width(self) -> int: ...
    def height(self) -> int: ...
    def format(self) -> str: ...

class Pictures(BufferPool):
    strides: tuple[int, int]
    stride: int
    def __init__(
        self, memory: Memory, w: int, h: int, format: str, *, rule: ImageRule, count: int = 2
    ) -> None: ...
    def close(self) -> None: ...
