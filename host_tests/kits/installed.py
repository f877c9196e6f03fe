# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What an installed library has to do at once on any board, whoever installed it."""

from __future__ import annotations

from pathlib import Path

import kmodel_build

#: report(), a pool and advise(), at the prompt of a board
USES = """
import maixmem, maixmem_pool, maixmem_advice
maixmem.report()
pool = maixmem_pool.BufferPool(2, 64)
pool.release(pool.acquire())
print("pool ok")
maixmem_advice.advise(MemoryError("memory allocation failed, allocating 5000 bytes"))
"""

#: models and flash as well, on a board with two small models there
MODELS = """
import maixmem_models, maixmem_flash
models = maixmem_models.ModelManager(keep=1)
models.add("a", 0x300000)
models.add("b", 0x310000)
for name in "aba":
    models.use(name)
print("switches", models.switches)
print("conflicts", maixmem_flash.FlashMap().scan().conflicts())
"""


def models(folder: Path) -> dict[int, Path]:
    """{address: file} of the models that MODELS wants in flash."""
    found = {0x300000: folder / "a.kmodel", 0x310000: folder / "b.kmodel"}
    for path, channels in zip(found.values(), (8, 24)):
        layers = [("conv", channels), ("dequantize",)]
        path.write_bytes(kmodel_build.v3((28, 28, 3), layers).to_bytes())
    return found


def check_models(said: str) -> None:
    """What MODELS printed is what it has to be."""
    assert "switches 3" in said and "conflicts []" in said, said


def check(said: str, port: str) -> None:
    """What USES printed is that of a board with this port."""
    assert f"on {port}" in said, said
    assert "pool ok" in said and "1. " in said, said
    assert "not an error that maixmem knows" not in said, said
