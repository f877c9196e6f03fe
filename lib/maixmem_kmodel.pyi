# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from collections.abc import Callable
from typing import Any

from maixmem import KModelError as KModelError

_Reader = Callable[[int, int], bytes]
_Kinds = tuple[tuple[tuple[int, int], ...], bytes]

HOWS: tuple[str, ...]
KINDS3: _Kinds
KINDS4: _Kinds

def bad(offset: int, field: str, value: object, rule: str) -> None: ...

class File:
    size: int
    base: int
    swapped: bool
    window: bytes
    file: Any
    view: memoryview | None
    reader: _Reader | None
    def __init__(self, source: Any, reader: _Reader | None) -> None: ...
    def fetch(self, offset: int, n: int) -> bytes: ...
    def load(self, offset: int, n: int, field: str) -> None: ...
    def word(self, i: int) -> int: ...
    def close(self) -> None: ...

# "| Any": None where the file does not say, see the contract in the module
class KModel:
    format: str
    swapped: bool
    size: int | Any
    nbytes: int | Any
    layers: int | Any
    main_mem: int | Any
    kpu_span: int | Any
    header: int | Any
    largest_body: int | Any
    first_type: int | Any
    asserts: int | Any
    inputs: list[tuple[Any, Any, Any]] | Any
    outputs: list[tuple[Any, Any, Any]] | Any
    def __init__(self, kind: str, swapped: bool, size: int | None) -> None: ...
    def pieces(self, how: str) -> list[tuple[int, bool]] | Any: ...
    def need(self, how: str) -> int | Any: ...
    def peak(self, how: str) -> int | Any: ...
    def refuse(self, firmware: dict[str, Any], how: str = "load_addr") -> str | None: ...
    def warnings(self) -> list[str]: ...

def read_info(
    source: str | int | bytes | bytearray | memoryview, reader: _Reader | None = None
) -> KModel: ...
def identify(f: File) -> KModel: ...
def limit(offset: int, field: str, value: int, low: int, high: int) -> None: ...
def walk(
    m: KModel,
    f: File,
    table: int,
    kinds: _Kinds,
    visit: Callable[[int, int, int], object] | None = None,
) -> int: ...
