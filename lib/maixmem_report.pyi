# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from collections.abc import Callable
from typing import Any

def report(out: Callable[[str], object] = ...) -> dict[str, Any]: ...
def bar(used: int | None, total: int | None, width: int = 16) -> str: ...
