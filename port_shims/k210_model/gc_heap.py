# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The GC heap in numbers: how much of a block of the system heap is usable, and in what blocks."""

from maixmem_k210_chip import GC_BLOCK

BLOCK = 32


def pool_size(base: int, n: int) -> int:
    """Usable bytes (mem_alloc + mem_free) of a GC heap of n bytes at this address."""
    n = ((base + n) & ~(BLOCK - 1)) - base
    return 8 * n // GC_BLOCK * 128


def blocks(n: int) -> int:
    """Bytes that an object of n bytes takes."""
    return (n + BLOCK - 1) & ~(BLOCK - 1)
