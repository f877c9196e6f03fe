# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from collections.abc import Iterable
from typing import Any

import maixmem_generic
from maixmem import NoRoom
from maixmem_rknncost import RknnCost
from maixmem_rknnmodel import Model

class Port(maixmem_generic.Port):
    lib: Any
    soc: str | None
    budget: int | None
    models: list[Model]
    version: str | None
    sram: tuple[int, int]
    serial: Any
    arena: Any
    def __init__(
        self,
        library: Any = None,
        *,
        soc: str | None = None,
        budget: int | None = None,
        reserve: int = 0,
        arena: Any = None,
        cma: bool | None = None,
    ) -> None: ...
    @property
    def used(self) -> int: ...
    def shortage(
        self, cost: RknnCost, margin: int = 0, going: Iterable[Model] = ()
    ) -> NoRoom | None: ...
    def inspect(self, source: str | bytes, **how: Any) -> RknnCost: ...
    def load(self, source: str | bytes, **how: Any) -> Model: ...
    def dup(self, model: Model) -> Model: ...
    def unload(self, handle: Model) -> None: ...
