# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from collections.abc import Iterable
from typing import Any

from maixmem import NoRoom as NoRoom
from maixmem import PoolError as PoolError

_Rule = tuple[int, int, int, int]

PLAIN: _Rule
RKNN: _Rule
MAIXCAM_IMAGE: _Rule
ASCEND_RT: _Rule
ASCEND_DVPP: _Rule

def round_up(n: int, unit: int) -> int: ...
def piece_bytes(nbytes: int, rule: _Rule = ...) -> int: ...
def block_bytes(sizes: Iterable[int], rule: _Rule = ...) -> int: ...

class Arena:
    nbytes: int
    base: int
    align: int
    rule: _Rule
    pieces: int
    failures: int
    block: Any
    def __init__(
        self,
        nbytes: int,
        align: int = 1,
        rule: _Rule = ...,
        block: bytearray | memoryview | int | None = None,
        pieces: int = 64,
    ) -> None: ...
    def alloc(self, nbytes: int) -> int: ...
    def free(self, address: int) -> None: ...
    def view(self, address: int) -> memoryview: ...
    @property
    def available(self) -> int: ...
    @property
    def largest(self) -> int: ...
    def walk(self) -> list[tuple[int, int, bool]]: ...
    def check(self) -> int: ...
