# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for the K210 under MaixPy v1 (MicroPython v1.11): memory, flash and images. Models:
maixmem_k210_kpu.

Two heaps: the GC heap (Python objects, image pixels) is one block inside the system heap (models,
camera and LCD buffers). Figures and behaviour were measured on the official firmware v0.6.2_84.
"""

import gc

from maixmem import NoRoom, const, resident, run_once, set_port

_STACK = const(16384)  # bytes that a thread needs
# of the system heap, in one piece, for a look into /flash: a page, four bytes for each, and
# SPI_EXTRA; unchecked on twelve builds (maixmem_k210_chip)
_READ = const(16514)
try:
    import _thread

    # threads from now on: the firmware's 4096 bytes do not do for a part that is imported in one
    _thread.stack_size(max(_thread.stack_size(), _STACK))
    __import__("maixmem_k210_stack")  # a thread whose stack is too small could not
except (ImportError, AttributeError, ValueError):
    _thread = None  # type: ignore[assignment]
try:
    from Maix import utils
except ImportError:
    utils = run_once("k210_alias", "utils")


# One object per program. It keeps no memory of the board but what load() took. `regions()`,
# `room()` and `inspect()` may collect garbage; `sample()` allocates nothing.
class Port:
    """The K210 under MaixPy v1: two heaps, one KPU with five model slots, flash behind a 24-bit
    address."""

    name = "k210"
    watched = ("gc", "heap", "largest")  # type: tuple[str, ...]
    lacks = ()  # type: tuple[str, ...]  # calls of Maix.utils: see maixmem_k210_old
    from maixmem_k210_heap import heap  # None where malloc's lists are not found

    exact = True
    warning = None  # type: str | None  # where the lists are not whole

    def regions(self) -> list:
        """[gc, heap], each a Region. `heap` is the whole SRAM, firmware and GC heap included, as
        malloc's lists have it.

        Where those are not found or damaged, its free bytes are a lower bound: heap_free(), the
        gap between malloc's break and the end of RAM. Finding the largest GC block collects
        garbage several times (1.4 ms each).
        """
        return run_once("k210_chip", "regions", self)

    def sample(self, free: "list[int]") -> None:
        """Puts the free bytes of gc and heap, and its largest block, into the list `free`.
        Allocates nothing."""
        free[0] = gc.mem_free()
        free[1] = self.free_bytes()
        free[2] = self.largest

    def free_bytes(self) -> int:
        """Free bytes of the system heap, looked up now; sets `largest`, a block that malloc can
        give, `behind`, what is free behind the break, and `exact`. Allocates nothing.
        Damaged lists are reported by a line on the screen, once."""
        heap = self.heap
        if heap:
            place = heap.look() and heap.look()  # the first may have been amid a malloc
            if not place:
                self.largest = heap.largest
                self.behind = heap.heap_free
                self.exact = True
                self.warning = None
                return heap.free
            if self.exact:  # said at once: to read a part from flash takes malloc
                text = "system heap damaged at %#x: maixmem doctor, machine.reset()"
                self.warning = text % place
                print("!", self.warning)
        self.exact = False
        self.largest = self.behind = free = utils.heap_free()
        return free

    def refuse(self) -> None:
        """RuntimeError or NoRoom where to import a part would hang the board: to look for it in
        flash takes malloc, a frozen one too, and more stack than a thread has by itself."""
        if not self.heap:
            return
        self.free_bytes()
        if self.warning:
            raise RuntimeError(self.warning)
        if self.largest < _READ:
            from uos import getcwd

            if getcwd()[:3] != "/sd":
                what = "/flash takes 16514 bytes of system heap, {} free: release() one"
                raise NoRoom(what.format(self.largest), "heap", _READ, self.largest)
        if _thread:
            import maixmem_k210_stack

            maixmem_k210_stack.refuse(self.heap)

    def warnings(self) -> "list[str]":
        """Sentences about a system heap that is damaged, a GC heap that is not the one that was
        set, and firmware that damages its heap."""
        return run_once("k210_chip", "warnings", self, utils)

    def for_models(self, manager=None) -> "Port":
        """The port that loads models as well: it is the port of this program from now on. Threads
        of the firmware wait for each other in `manager`."""
        if manager and _thread:
            resident("threads").guard(manager)
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
        return resident("k210_chip").read_flash(self, utils, offset, n)

    # --- calls that few programs make ---

    def __getattr__(self, name: str):
        """new_image(), copy_into() and set_gc_heap(): see maixmem_k210_lazy."""
        if name not in ("new_image", "copy_into", "set_gc_heap"):
            raise AttributeError(name)
        run_once("k210_lazy", "adapt", Port)
        return getattr(self, name)
