# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
from __future__ import annotations  # pdoc runs this file

from maixmem import Region

def gc_region(largest: int | None = None) -> Region | None: ...
def largest_block(limit: int) -> int | None: ...
