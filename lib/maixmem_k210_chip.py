# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210 in numbers: its memories, and the arithmetic of its allocator. Touches no board; device
and desk use it.

Bytes. The rules of the allocator (newlib's malloc) and of the firmware were measured on MaixPy
v0.6.2_84.
"""

from maixmem import const

RAM = 6 << 20  # 0x80000000 to 0x80600000: firmware, GC heap, models, buffers
FLASH_SIZE = 16 << 20  # what a 24-bit address reaches; beyond, it wraps
SPIFFS_START = 0xD00000  # the file system /flash
SPIFFS_SIZE = 0x300000
IMAGE_OVERHEAD = 37  # around a firmware in flash: flag byte, u32 length, SHA-256
GC_BLOCK = 1036  # bytes of a GC heap's block of which gc counts 1024
PAGE = 4096  # the allocator's break, which heap_free() shows, moves in pages
TRIM = 131072  # a free top chunk of this size goes back to heap_free()
TRIM_READ = (
    32720  # a flash read of this takes TRIM for a moment, so the free end of the heap goes back
)
SPI_CHUNK = 65536  # bytes of flash that the driver reads at once, into four bytes for each ...
SPI_EXTRA = 130  # ... and these; it does not check that it got them

# What is done with an allocation, in the low bits of its chunk's size, a multiple of 16: freed at
# once; freed after the next transient one; not checked by the firmware, which dumps core without
# it
TRANSIENT = 1
HELD = 2
UNCHECKED = 4
SIZE = -16

_PAGE = const(4096)
_TOP = const(32)  # that malloc leaves at the top


def chunk(n: int) -> int:
    """Bytes that malloc(n) takes of the heap."""
    return max(32, (n + 23) & ~15)


def sbrk_increment(size: int) -> int:
    """By how much the break moves for a chunk of this size."""
    return (size + _TOP + _PAGE - 1) & ~(_PAGE - 1)


# A load is a list of chunks in order: maixmem_k210_cost.chunks(). The top of the heap grows by
# whole requests, in pages, and only what is left there serves others. `holes` (sizes) serve what
# is checked, the smallest that is large enough first. How much of a page is left before is not
# known: this is the worst case of all.
def required_free(chunks, holes=(), free: int = 0) -> "tuple[int, int]":
    """(bytes that heap_free() must have, the chunk that `free` is too small for: 0, or an
    unchecked one if there is)."""
    most = rest = first = 0
    while rest <= _PAGE + _TOP:
        moved, miss, more = _grow(chunks, list(holes), free, rest)
        most = max(most, moved)
        if not first or miss & UNCHECKED:
            first = miss
        rest += more
    return most, first


def _grow(chunks, holes, free, rest):
    """The same for `rest` free bytes at the top, and how many more would change the course of
    things."""
    moved = most = held = first = 0
    more = TRIM
    for piece in chunks:
        size = piece & SIZE
        hole = None if piece & UNCHECKED else best_fit(holes, size)
        if hole is not None:
            holes[hole] -= size
            continue
        if size + _TOP > rest:
            more = min(more, size + _TOP - rest)
            moved += sbrk_increment(size)
            rest += sbrk_increment(size)
            most = max(most, moved)
            if not first and moved > free:
                first = piece
        if not piece & TRANSIENT:
            rest -= size
        elif piece & HELD:
            rest -= size
            held = size
        else:
            rest += held
            held = 0
            if rest >= TRIM:
                back = (rest - _TOP - 1) // _PAGE * _PAGE
                moved -= back
                rest -= back
            else:
                more = min(more, TRIM - rest)
    return most, first, more


def best_fit(holes, size: int) -> "int | None":
    """The index of the smallest hole that has `size` bytes, or None."""
    found = None
    for i in range(len(holes)):
        if holes[i] >= size and (found is None or holes[i] < holes[found]):
            found = i
    return found
