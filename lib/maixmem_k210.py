# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for the K210 under MaixPy v1 (MicroPython v1.11): memory, flash and images. Models:
maixmem_k210_kpu.

Two heaps: the GC heap (Python objects, image pixels) is one block inside the system heap (models,
camera and LCD buffers). Figures and behaviour were measured on the official firmware v0.6.2_84.
"""

import gc
import sys

import image
import maixmem_k210_heap
from maixmem import NoRoom, Region, const, message, resident, run_once, set_port

FLASH_SIZE, GC_BLOCK, RAM, SPARE, SPI_EXTRA = run_once(
    "k210_chip", "numbers", "FLASH_SIZE GC_BLOCK RAM SPARE SPI_EXTRA"
)
try:
    import _thread

    # threads from now on: the firmware's 4096 bytes do not do for a part that is imported in one
    _thread.stack_size(max(_thread.stack_size(), 16384))
    del _thread
except (ImportError, AttributeError, ValueError):
    pass
try:
    from Maix import utils
except ImportError:
    utils = run_once("k210_less", "maix_utils")

_PIECE = const(4096)  # bytes read from flash at once
_LEAST = const(256)  # ... where there is little room
_EDGE = const(160)  # what the active GC heap, counted in blocks, may be off by


# One object per program. It keeps no memory of the board but what load() took. `regions()`,
# `room()` and `inspect()` may collect garbage; `sample()` allocates nothing.
class Port:
    """The K210 under MaixPy v1: two heaps, one KPU with five model slots, flash behind a 24-bit
    address."""

    name = "k210"
    watched = ("gc", "heap", "largest")  # type: tuple[str, ...]
    share = "evict"
    slots = 5  # the firmware refuses a sixth model
    margin = 0  # what malloc will do is known to the byte
    lacks = ()  # type: tuple[str, ...]  # calls of Maix.utils: see maixmem_k210_old
    heap = maixmem_k210_heap.found  # None where malloc's lists are not found
    exact = True

    def regions(self) -> "list[Region]":
        """[gc, heap]. `heap` is the whole SRAM, firmware and GC heap included, as malloc's lists
        have it.

        Where those are not found or damaged, its free bytes are a lower bound: heap_free(), the
        gap between malloc's break and the end of RAM. Finding the largest GC block collects
        garbage several times (1.4 ms each).
        """
        found = [run_once("report", "gc_region")]
        free = self.free_bytes()
        heap = Region("heap", RAM, RAM - free, free, self.largest, self.exact)
        if heap.exact:
            heap.holes = self.heap.holes
        return found + [heap]

    def sample(self, free: "list[int]") -> None:
        """Puts the free bytes of gc and heap, and its largest block, into the list `free`.
        Allocates nothing."""
        free[0] = gc.mem_free()
        free[1] = self.free_bytes()
        free[2] = self.largest

    def free_bytes(self) -> int:
        """Free bytes of the system heap, looked up now; sets `largest`, a block that malloc can
        give, `behind`, what is free behind the break, and `exact`. Allocates nothing.
        Lists that are not whole any more are said by a line on the screen, once."""
        heap = self.heap
        if heap:
            try:
                heap.look()
                self.largest = heap.largest
                self.behind = heap.heap_free
                self.exact = True
                return heap.free
            except maixmem_k210_heap.Damaged as e:
                if self.exact:  # said at once: to read a part from flash takes malloc
                    print("! system heap damaged at", hex(e.args[0]))
        self.exact = False
        self.largest = self.behind = free = utils.heap_free()
        return free

    def warnings(self) -> "list[str]":
        """Sentences about a system heap that is damaged, a GC heap that is not the one that was
        set, and firmware that damages its heap."""
        self.free_bytes()
        off = -1
        if self.exact or not self.heap:  # with a damaged heap reading its size hangs
            off = utils.gc_heap_size() - (gc.mem_alloc() + gc.mem_free()) * GC_BLOCK // 1024
        if not self.exact or abs(off) > _EDGE or sys.implementation.version < (0, 6):  # MaixPy's
            try:
                return run_once("k210_gc", "warnings", self)
            except MemoryError:  # no GC heap to look
                pass
        return []

    def set_gc_heap(self, nbytes: int) -> str:
        """Stores a new GC heap size and reads it back; it is active after a hard reset. Returns
        that advice.

        ValueError for a size that would not boot, fall back to 128 KiB or leave the system heap
        too small; OSError when the firmware did not keep the value. Writes /flash/freq.conf;
        resets nothing.
        """
        return run_once("k210_gc", "set_gc_heap", nbytes)

    def for_models(self, manager=None) -> "Port":
        """The port that loads models as well: it is the port of this program from now on."""
        return self if hasattr(self, "load") else set_port(resident("k210_kpu").Port())

    # --- flash ---

    def read_flash(self, offset: int, n: int) -> bytearray:
        """n bytes of flash from offset. Safe at any heap level; allocates n bytes and a piece of
        at most 4 KiB.

        The firmware's flash_read does not check its own buffer and hangs the board when that is
        not to be had; this reads in pieces for which there is room. ValueError beyond the 16 MiB
        that an address reaches (the firmware would wrap); NoRoom when not even 256 bytes can be
        read.
        """
        if offset < 0 or n < 0 or offset + n > FLASH_SIZE:
            raise ValueError(message("read_flash", offset, n, FLASH_SIZE))
        data = bytearray(n)
        done = 0
        while done < n:
            self.free_bytes()
            beside = SPI_EXTRA + (0 if self.exact else SPARE)
            piece = min(n - done, _PIECE, (self.largest - beside) // 4)
            if piece < min(n - done, _LEAST):
                need = 4 * min(n, _LEAST) + beside
                text = message("flash_room", need, self.largest)
                raise NoRoom(text, "heap", need, self.largest)
            data[done : done + piece] = utils.flash_read(offset + done, piece)
            done += piece
        return data

    # --- images ---

    def new_image(self, w: int, h: int, format: str = "rgb565"):
        """A new image of w x h pixels in the GC heap, zeroed: "rgb565" (2wh bytes) or "gray" (made
        from one, keeps 2wh)."""
        img = image.Image(size=(w, h))
        if format == "gray":
            return img.to_grayscale()
        if format != "rgb565":
            raise ValueError(message("new_image", format))
        return img

    def copy_into(self, dst, src) -> None:
        """Copies the pixels of src into dst, an image of the same size and format. Allocates no
        pixels.

        Never keep what the firmware's copy() returns: its AI plane is not set, pix_to_ai() on it
        hangs.
        """
        try:
            src.copy(copy_to_fb=dst)
        except (AttributeError, TypeError):  # before v0.6.2-72
            resident("k210_draw").adapt(Port)
            self.copy_into(dst, src)
