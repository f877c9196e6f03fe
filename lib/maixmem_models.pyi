# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Literal

from maixmem import NoRoom as NoRoom
from maixmem_net import Entry as Entry
from maixmem_net import ModelGone as ModelGone
from maixmem_net import Net as Net

MARGIN: int

class ModelManager:
    port: Any
    keep: int
    margin: int
    state: Literal["previous", "none", "new"]
    switches: int
    last_ms: int
    base: dict[str, int]
    def __init__(
        self, port: Any = None, keep: int | None = None, margin: int | None = None
    ) -> None: ...
    def __enter__(self) -> ModelManager: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        e: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
    def add(
        self,
        name: Any,
        source: Any,
        setup: Callable[[Any], object] | None = None,
        pin: bool = False,
        fallback: Any = None,
        **how: Any,
    ) -> None: ...
    def forget(self, name: Any) -> None: ...
    def models(self) -> list[Entry]: ...
    def use(self, name: Any) -> Any: ...
    def using(self, name: Any) -> AbstractContextManager[Any]: ...
    def release(self, name: Any) -> None: ...
    def release_all(self) -> None: ...
    def status(self, out: Callable[[str], object] = ...) -> dict[str, Any]: ...
