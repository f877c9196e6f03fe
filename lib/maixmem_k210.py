# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for the K210 under MaixPy v1 (MicroPython v1.11).

Two heaps: the GC heap (Python objects, image pixels) is one block inside the system heap (models, camera
and LCD buffers). Figures and behaviour were measured on the official firmware v0.6.2_84.
"""

import gc

from Maix import utils
from maixmem import NoRoom, Region, hexa, kib
from maixmem_gc import gc_region, largest_block
from maixmem_k210_limits import check_gc_heap, max_gc_heap

_RAM = 6 << 20  # 0x80000000 to 0x80600000: firmware, GC heap, models, buffers
_FLASH = 16 << 20  # the SPI flash address has 24 bits, beyond it wraps
_PIECE = 4096  # bytes read from flash at once
_SPI_FIXED = 130  # flash_read(n) mallocs 4 * min(n, 65536) + 130 of system heap, unchecked
_PAGE = 8192  # the break moves in pages of 4096; one more for chunk headers
_FREES_ONCE = (
    0,
    5,
    1,
    48,
)  # earlier firmware frees the arguments of a YOLO model twice (MaixPy_scripts issue 70)


def active_gc_heap():
    """The GC heap size that is in force, in bytes, within 160: what gc counts is 1024 of each 1036 bytes."""
    return (gc.mem_alloc() + gc.mem_free()) * 1036 // 1024


def firmware_version(text=None):
    """(0, 6, 2, 84) for "v0.6.2-84-g8fcd84a58 on 2022-08-26", which is os.uname()[3] on MaixPy; None for others."""
    if text is None:
        try:
            from os import uname
        except ImportError:
            return None
        who = uname()
        text = who[3] if who[0] == "MaixPy" else ""
    words = text.split(" ")[0].replace("_", "-").replace(".", "-").split("-")[:4]
    try:
        return tuple([int(w[1:] if w[:1] == "v" else w) for w in words] + [0] * (4 - len(words)))
    except ValueError:
        return None


def _gc_heap_warnings():
    stored = utils.gc_heap_size()
    active = active_gc_heap()
    if abs(stored - active) <= 160:
        return []
    text = "GC heap: {} bytes are set, about {} are active. A new size needs a hard reset: machine.reset()."
    text = text.format(stored, active)
    if stored > active:
        text += " If it stays so after a reset, {} could not be had at boot: set a smaller one.".format(
            kib(stored)
        )
    return [text]


def _version_warnings(version):
    if version is None or version >= _FREES_ONCE:
        return []
    text = (
        "MaixPy {}: before 0.5.1-48 freeing a YOLO model damages the heap. Next: flash v0.6.2-84."
    )
    return [text.format("{}.{}.{}-{}".format(*version))]


# One object per program. It keeps no memory of the board but what load() took. `regions()`, `room()` and
# `inspect()` may collect garbage; `sample()` allocates nothing.
class Port:
    """The K210 under MaixPy v1: two heaps, one KPU with five model slots, flash behind a 24-bit address."""

    name = "k210"
    share = "evict"
    watched = ("gc", "heap")
    slots = 5  # the firmware refuses a sixth model
    margin = 0  # a forecast counts whole pages, at the worst place that one can end

    def __init__(self):
        self._models = None

    # --- regions ---

    def regions(self):
        """[gc, heap]. `heap` is the whole SRAM, firmware and GC heap included; its free bytes are a lower bound.

        heap_free() is the gap between the allocator's break and the end of RAM: freed blocks below the
        break do not show. Finding the largest GC block collects garbage several times (1.4 ms each).
        """
        gc.collect()
        free = utils.heap_free()
        heap = Region("heap", _RAM, _RAM - free, free, free, False)
        return [gc_region(largest_block(gc.mem_free())), heap]

    def sample(self, free):
        """Puts the free bytes of gc and heap into the list `free`. Allocates nothing."""
        free[0] = gc.mem_free()
        free[1] = utils.heap_free()

    def warnings(self):
        """Sentences about a GC heap that is not the one that was set, and about firmware that damages its heap."""
        return _gc_heap_warnings() + _version_warnings(firmware_version())

    # --- the size of the GC heap ---

    def set_gc_heap(self, nbytes):
        """Stores a new GC heap size and reads it back; it is in force after a hard reset. Returns that advice.

        ValueError for a size that would not boot, fall back to 128 KiB or leave the system heap too small;
        OSError when the firmware did not keep the value. Writes /flash/freq.conf; resets nothing.
        """
        if isinstance(nbytes, bool) or not isinstance(nbytes, int):
            raise TypeError("set_gc_heap: bytes as an int, not {!r}".format(nbytes))
        what = "set_gc_heap({})".format(nbytes)
        check_gc_heap(what, nbytes, utils.heap_free(), active_gc_heap())
        utils.gc_heap_size(nbytes)
        stored = utils.gc_heap_size()
        if stored != nbytes:
            text = "GC heap size: {} was written, {} reads back. Next: check that /flash is not full, then set it again."
            raise OSError(text.format(nbytes, stored))
        return "GC heap of {} bytes stored. Next: machine.reset() (a soft reset keeps the old size).".format(
            nbytes
        )

    def max_gc_heap(self):
        """The largest GC heap, in bytes, that boots and leaves 64 KiB of system heap, given what is free now."""
        return max_gc_heap(utils.heap_free(), active_gc_heap())

    # --- models: see the contract in maixmem_models; maixmem_k210_kpu does the work ---

    def kpu(self):
        """What knows about models, loaded at the first call."""
        if self._models is None:
            import maixmem_k210_kpu

            self._models = maixmem_k210_kpu.Kpu(self)
        return self._models

    def Net(self, name):
        """A net for the model manager to hand out: guarded firmware calls."""
        return self.kpu().Net(name)

    def inspect(self, source, stream=None):
        """The Cost of loading a path or flash address; stream=(dual_buf, batch, spi_speed) for kpu.load_flash."""
        return self.kpu().inspect(source, stream)

    def trouble(self, source, stream=None):
        """What is wrong with the place of a model in flash, as text, or None."""
        return self.kpu().trouble(source, stream)

    def shortage(self, cost, margin=0, going=()):
        """None when a load would come through, or the NoRoom that says why not."""
        return self.kpu().shortage(cost, margin, going)

    def level(self):
        """heap_free(), for the difference that a load makes."""
        return utils.heap_free()

    def room(self, region):
        """Bytes of a region that one load may count on; holes that our models left in the heap included."""
        if region == "gc":
            return gc.mem_free()
        return self.kpu().room() if region == "heap" else 0

    def load(self, source, stream=None):
        """A kpu_net. Asks nothing: where shortage() says no, the firmware may hang the board."""
        return self.kpu().load(source, stream)

    def unload(self, handle):
        """Frees a kpu_net."""
        self.kpu().unload(handle)

    # --- flash ---

    def read_flash(self, offset, n):
        """n bytes of flash from offset. Safe at any heap level; allocates n bytes and a piece of at most 4 KiB.

        The firmware's flash_read does not check its own buffer and hangs the board when that is not to be
        had; this reads in pieces for which heap_free() shows room. ValueError beyond the 16 MiB that an
        address reaches (the firmware would wrap); NoRoom when not even 256 bytes can be read.
        """
        if offset < 0 or n < 0 or offset + n > _FLASH:
            text = "read_flash({}, {}): flash is {} to {}. Next: an address and a length inside."
            raise ValueError(text.format(hexa(offset), n, hexa(0), hexa(_FLASH)))
        piece = self._piece(n)
        if n <= piece:
            return utils.flash_read(offset, n)
        data = bytearray(n)
        done = 0
        while done < n:
            step = min(piece, n - done)
            data[done : done + step] = utils.flash_read(offset + done, step)
            done += step
            piece = self._piece(n - done)
        return data

    def _piece(self, n):
        free = utils.heap_free()
        piece = _PIECE
        while piece > n and piece > 256:
            piece //= 2
        if piece < n and piece < _PIECE:
            piece *= 2
        while 4 * piece + _SPI_FIXED + _PAGE > free:
            piece //= 2
            if piece < 256:
                need = 4 * 256 + _SPI_FIXED + _PAGE
                text = "flash: reading needs {} bytes of system heap, heap_free() is {}. Next: free a model first."
                raise NoRoom(text.format(need, free), "heap", need, free)
        return piece

    # --- images ---

    def new_image(self, w, h, format="rgb565"):
        """A new image of w x h pixels in the GC heap, zeroed: "rgb565" (2wh bytes) or "gray" (made from one, keeps 2wh)."""
        import image

        img = image.Image(size=(w, h))
        if format == "gray":
            return img.to_grayscale()
        if format != "rgb565":
            raise ValueError('new_image: format "rgb565" or "gray", not {!r}'.format(format))
        return img

    def copy_into(self, dst, src):
        """Copies the pixels of src into dst, an image of the same size and format. Allocates no pixels.

        Never keep what the firmware's copy() returns: its AI plane is not set, pix_to_ai() on it hangs.
        """
        src.copy(copy_to_fb=dst)
