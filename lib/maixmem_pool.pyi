# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from contextlib import AbstractContextManager
from typing import Any

from maixmem import PoolEmpty as PoolEmpty
from maixmem import PoolError as PoolError

class _Pool:  # what an ImagePool has of a BufferPool
    count: int
    failures: int
    def acquire(self, tag: Any = True) -> Any: ...
    def release(self, buf: Any, tag: Any = None) -> None: ...
    def borrow(self, tag: Any = True) -> AbstractContextManager[Any]: ...
    @property
    def in_use(self) -> int: ...
    @property
    def high_water(self) -> int: ...
    def holders(self) -> list[Any]: ...
    def check(self) -> int: ...

class BufferPool(_Pool):
    nbytes: int
    block: bytearray | memoryview
    def __init__(
        self, nbytes: int, count: int, align: int = 1, block: bytearray | memoryview | None = None
    ) -> None: ...
