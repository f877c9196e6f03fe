# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210 in numbers: its memories and what its firmware does with them, which the desk uses too;
and what the port asks seldom that is little more than those.

Bytes. Measured on MaixPy v0.6.2_84.
"""

import gc
import sys

from maixmem import NoRoom, Region, const, message, run_once

RAM = 6 << 20  # 0x80000000 to 0x80600000: firmware, GC heap, models, buffers
FLASH_SIZE = 16 << 20  # what a 24-bit address reaches; beyond, it wraps
SPIFFS_START = 0xD00000  # the file system /flash
SPIFFS_SIZE = 0x300000
IMAGE_OVERHEAD = 37  # around a firmware in flash: flag byte, u32 length, SHA-256
GC_BLOCK = 1036  # bytes of a GC heap's block of which gc counts 1024
EDGE = 160  # what the size of an active GC heap, counted in blocks, may be off by
PAGE = 4096  # the allocator's break, which heap_free() shows, moves in pages
SPARE = 8192  # beside what one block takes: a page, and one more for chunk headers
TRIM = 131072  # a free top chunk of this size goes back to heap_free()
SPI_EXTRA = 130  # a flash read takes four bytes for each and these, unchecked
_PIECE = const(4096)  # bytes read from flash at once
_LEAST = const(256)  # ... where there is little room

# What is done with an allocation, in the low bits of its chunk's size, a multiple of 16: freed at
# once; freed after the next transient one; not checked by the firmware, which dumps core without
# it
TRANSIENT = 1
HELD = 2
UNCHECKED = 4
SIZE = -16


def chunk(n: int) -> int:
    """Bytes of the heap that malloc(n) allocates."""
    return max(32, (n + 23) & ~15)


def values(text: str) -> tuple:
    """Those of the names in this text. What stays in memory takes them by run_once(): 16 bytes
    each, and not the module."""
    return tuple([globals()[name] for name in text.split()])


# --- what maixmem_k210.Port answers with these: see there ---


def regions(port) -> "list[Region]":
    """The GC heap and the system heap."""
    found = [run_once("report", "gc_region")]
    free = port.free_bytes()
    heap = Region("heap", RAM, RAM - free, free, port.largest, port.exact)
    if port.exact:
        heap.holes = port.heap.holes
    return found + [heap]  # type: ignore[return-value]  # MaixPy counts its GC heap


def warnings(port, utils) -> "list[str]":
    """What maixmem_k210_gc says, where there may be something to say."""
    port.free_bytes()
    off = -1
    if port.exact or not port.heap:  # with a damaged heap reading its size hangs
        off = utils.gc_heap_size() - (gc.mem_alloc() + gc.mem_free()) * GC_BLOCK // 1024
    if not port.exact or abs(off) > EDGE or sys.implementation.version < (0, 6):  # MaixPy's
        try:
            return run_once("k210_gc", "warnings", port)
        except MemoryError:  # no GC heap to look
            pass
    return []


def read_flash(port, utils, offset: int, n: int) -> bytearray:
    """In pieces for which there is room; `utils` are the firmware's calls."""
    if offset < 0 or n < 0 or offset + n > FLASH_SIZE:
        raise ValueError(message("read_flash", offset, n, FLASH_SIZE))
    data = bytearray(n)
    done = 0
    while done < n:
        port.free_bytes()
        beside = SPI_EXTRA + (0 if port.exact else SPARE)
        piece = min(n - done, _PIECE, (port.largest - beside) // 4)
        if piece < min(n - done, _LEAST):
            need = 4 * min(n, _LEAST) + beside
            raise NoRoom(message("flash_room", need, port.largest), "heap", need, port.largest)
        data[done : done + piece] = utils.flash_read(offset + done, piece)
        done += piece
    return data
