# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from collections.abc import Callable

_Row = tuple[str, str, int, int, int]

class Budget:
    total: dict[str, int]
    free: dict[str, int]
    rows: list[_Row]
    short: list[_Row]
    def __init__(self, regions: dict[str, int]) -> None: ...
    def add(self, what: str, need: dict[str, int], peak: dict[str, int] | None = None) -> bool: ...
    @property
    def fits(self) -> bool: ...
    def report(self, out: Callable[[str], object] = ...) -> None: ...

def k210_budget(heap_free: int, gc_heap: int = ..., boot_gc: int = ...) -> Budget: ...
