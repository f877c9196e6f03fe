# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from collections.abc import Callable, Iterable

from maixmem import FlashOverlap as FlashOverlap

CHIP: int
SECTOR: int
FRAME: int
IMAGE_EXTRA: int
MODELS: int
LEAST: int
SPIFFS: int
SPIFFS_SIZE: int
GIVEN: str

class FlashRegion:
    name: str
    start: int
    end: int
    kind: str
    source: str
    intact: bool | None
    def __init__(
        self, name: str, start: int, nbytes: int, kind: str = "data", source: str = ...
    ) -> None: ...

class Clash:
    why: str
    first: FlashRegion
    second: FlashRegion | None
    start: int
    end: int
    nbytes: int
    def __init__(
        self,
        why: str,
        first: FlashRegion,
        second: FlashRegion | None,
        start: int,
        end: int,
    ) -> None: ...

def spiffs_start(size: int) -> int | None: ...

class FlashMap:
    size: int
    regions: list[FlashRegion]
    unread: list[tuple[int, int, str]]
    notes: list[str]
    def __init__(self, size: int = ...) -> None: ...
    def add(
        self, name: str, start: int, nbytes: int, kind: str = "data", source: str = ...
    ) -> FlashRegion: ...
    def conflicts(self) -> list[Clash]: ...
    def risks(self) -> list[Clash]: ...
    def unaligned(self) -> list[FlashRegion]: ...
    def check(self) -> list[Clash]: ...
    def trouble(self, start: int, nbytes: int, name: str = "model") -> list[str]: ...
    def gap_for(
        self, nbytes: int, align: int = ..., start: int = 0, unit: int = ...
    ) -> int | None: ...
    def moves(self) -> list[tuple[FlashRegion, int]]: ...
    def scan(
        self,
        read: Callable[[int, int], bytes] | None = None,
        offsets: Iterable[int] | None = None,
        verify: bool = False,
        gaps: bool = True,
    ) -> FlashMap: ...
    def report(self, out: Callable[[str], object] = ...) -> bool: ...
