# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The boot of the firmware as what it allocates: heap_free() at the prompt follows from it.

A step that hangs the board raises DeviceCrash.
"""

from maixmem_k210_chip import SPI_EXTRA, SPIFFS_START

from k210_model.builds import (
    GC_BOOTS,
    GC_FALLBACK,
    LCD_GC,
    SPIFFS_READ,
    Build,
)
from k210_model.crash import CURES, DeviceCrash
from k210_model.heap import RAM_END, Heap


def booted(build: Build, gc_heap: int) -> Heap:
    """The system heap at the prompt of a fresh board, whose freq.conf says gc_heap bytes."""
    heap = Heap()
    _, size = boot(heap, build, gc_heap)
    repl(heap)
    if greets(size):
        greet(heap)
    heap.mark()
    return heap


def boot(heap: Heap, build: Build, gc_heap: int) -> "tuple[int, int]":
    """From power-on to the GC heap: (its address, its bytes)."""
    heap.restart(build.base, RAM_END)
    take(heap, build.early)
    scratch(heap, (8,))
    spi_read(heap, SPIFFS_READ, "boot")
    take(heap, build.late)
    if gc_heap < GC_BOOTS:
        raise DeviceCrash(
            "no boot with a GC heap of %d bytes (nlr_jump_fail)" % gc_heap,
            "erase the file system at 0x%X" % SPIFFS_START,
        )
    address = heap.malloc(gc_heap)
    if not address:
        heap.say(
            "GC heap size %d is too large, reset GC heap size\nGC size %dk"
            % (gc_heap, GC_FALLBACK >> 10)
        )
        gc_heap = GC_FALLBACK
        address = heap.malloc(gc_heap)
    return address, gc_heap


def repl(heap: Heap, who: str = "boot") -> None:
    """The start of the interpreter, after power-on and after a soft reset."""
    take(heap, (24, 5120))
    spi_read(heap, SPIFFS_READ, who)


def greets(gc_heap: int) -> bool:
    """True when the firmware's own main.py, which shows a picture, runs in a GC heap of so many
    bytes."""
    return gc_heap >= LCD_GC


def greet(heap: Heap, w: int = 320, h: int = 240) -> int:
    """That main.py: the buffer of the display, which stays; a failure is not noticed by the
    firmware."""
    spi_read(heap, SPIFFS_READ, "lcd.init")
    buffer = heap.malloc(2 * w * h)
    scratch(heap, (24 * w, w // 8 + 1))
    return buffer


def spi_read(heap: Heap, n: int, who: str) -> None:
    """The SPI driver's buffer for reading n bytes from flash. It is not checked: a failure hangs
    the board."""
    size = 4 * n + SPI_EXTRA
    block = heap.malloc(size)
    if not block:
        raise DeviceCrash(
            "%s needs %d bytes of system heap to read %d bytes of flash, heap_free() is %d"
            % (who, size, n, heap.heap_free()),
            CURES.get(who, "free memory first"),
        )
    heap.free(block)


def scratch(heap: Heap, sizes: "tuple[int, ...]") -> bool:
    """Blocks that one call takes and gives back; False when one did not fit."""
    found = take(heap, sizes)
    for block in found:
        heap.free(block)
    return 0 not in found


def take(heap: Heap, sizes: "tuple[int, ...]") -> "list[int]":
    """Blocks of these sizes, in this order; 0 for one that did not fit."""
    return [heap.malloc(n) for n in sizes]
