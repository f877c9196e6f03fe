# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from collections.abc import Callable
from typing import Any

__version__: str

class NoRoom(MemoryError):
    region: str
    need: int | None
    free: int | None
    def __init__(self, message: str, region: str, need: int | None, free: int | None) -> None: ...

class KModelError(ValueError): ...
class FlashOverlap(ValueError): ...
class PoolEmpty(MemoryError): ...
class PoolError(ValueError): ...

class Region:
    name: str
    total: int | None
    used: int | None
    free: int | None
    largest: int | None
    exact: bool
    def __init__(
        self,
        name: str,
        total: int | None,
        used: int | None,
        free: int | None,
        largest: int | None = None,
        exact: bool = True,
    ) -> None: ...

class Cost:
    need: dict[str, int]
    peak: dict[str, int]
    certainty: str
    refuse: str | None
    source: Any
    def __init__(
        self,
        need: dict[str, int],
        peak: dict[str, int],
        certainty: str = "exact",
        refuse: str | None = None,
        source: Any = None,
    ) -> None: ...

def port() -> Any: ...
def set_port(new: Any) -> Any: ...
def regions() -> list[Region]: ...
def report(out: Callable[[str], object] = ...) -> dict[str, Any]: ...
def kib(n: int) -> str: ...
def hexa(n: int) -> str: ...
def wrap(text: str, width: int = 60) -> list[str]: ...
def set_gc_heap(nbytes: int) -> str: ...

class Watch:
    names: tuple[str, ...]
    free: list[int]
    low: list[int]
    start: list[int]
    marks: list[tuple[str, list[int]]]
    samples: int
    def __init__(self) -> None: ...
    def reset(self) -> None: ...
    def sample(self) -> None: ...
    def mark(self, label: str) -> None: ...
    def high_water(self) -> dict[str, int]: ...
    def report(self, out: Callable[[str], object] = ...) -> None: ...
