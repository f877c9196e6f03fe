# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What an installed library has to do at once on any board, whoever installed it."""

#: report(), a pool and advise(), at the prompt of a board
USES = """
import maixmem, maixmem_pool, maixmem_advice
maixmem.report()
pool = maixmem_pool.BufferPool(2, 64)
pool.release(pool.acquire())
print("pool ok")
maixmem_advice.advise(MemoryError("memory allocation failed, allocating 5000 bytes"))
"""


def check(said: str, port: str) -> None:
    """What USES printed is that of a board with this port."""
    assert f"on {port}" in said, said
    assert "pool ok" in said and "1. " in said, said
    assert "not an error that maixmem knows" not in said, said
