# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from collections.abc import Callable

def find(error: BaseException | str) -> tuple[str, tuple[str, ...]] | None: ...
def advise(error: BaseException | str, out: Callable[[str], object] = ...) -> list[str]: ...
