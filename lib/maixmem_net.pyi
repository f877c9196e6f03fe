# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from collections.abc import Callable
from typing import Any

from maixmem import Cost

class ModelGone(ValueError): ...

class Net:
    name: Any
    handle: Any
    def __init__(self, name: Any) -> None: ...
    @property
    def raw(self) -> Any: ...
    def live(self) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

class Entry:
    name: Any
    source: Any
    how: dict[str, Any]
    net: Net
    setup: Callable[[Any], object] | None
    pin: bool
    fallback: Any
    cost: Cost | None
    handle: Any
    ready: bool
    held: int
    used: int
    order: int
    took: int | None
    told: bool
    def __init__(self, name: Any, source: Any, how: dict[str, Any], net: Net) -> None: ...
