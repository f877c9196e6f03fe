# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Images that are made once and handed out again and again.

frames = ImagePool(320, 240, "rgb565", 2, ai=True)
img = frames.take(sensor.snapshot())
objects = kpu.run_yolo2(net, img)
frames.release(img)
"""

import gc

from maixmem import NoRoom, PoolError, port
from maixmem_pool import BufferPool


# `count` images of exactly w x h pixels in one format of the platform's port; with `ai` (MaixPy) each owns its
# AI copy from the start. A BufferPool of images: release(), borrow(), tags and errors are the same.
# Allocation: the constructor makes all images. take() and acquire() allocate nothing; of what the firmware does
# in take(), copy() leaves an object of 64 bytes to the collector, as snapshot() does (MaixPy v0.6.2_84).
# An image whose holder changed its size or format (crop(), to_grayscale(), a copy into it) is made anew before
# it is handed out again, the only time that acquire() allocates. NoRoom if that fails: nothing is lost, the next
# acquire() tries again. `replaced` counts them: keep it 0 by working on images that are not the pool's.
# The pool never shows an image that copy() returned, whose AI copy is an address that was never set.
# Never call img.__del__() on an image of the pool: it frees the pixels, the image says the size it had, and the next
# take() writes at address 0 and dumps core (measured on the firmware v0.6.2_84). Nothing cheap can tell: release() it.
class ImagePool(BufferPool):
    """Images of one size and format that are allocated once."""

    def __init__(self, w, h, format="rgb565", count=2, ai=False):
        for n in (w, h, count):
            if not isinstance(n, int) or n < 1:
                text = "ImagePool({!r}, {!r}, count={!r}): {!r} must be an int, 1 or more. Next: divide with //."
                raise ValueError(text.format(w, h, count, n))
        self.w = w
        self.h = h
        self.format = format
        self.ai = ai
        self.replaced = 0
        self._port = port()
        items = [self._new() for _ in range(count)]
        self._code = items[0].format()
        self._fill(items)

    def acquire(self, tag=True):
        """An image of the pool's size and format with whatever pixels it had. PoolEmpty when all are out."""
        n = self._free[0]
        if n and not self._whole(self._free[n]):
            self._renew(n)
        return super().acquire(tag)

    def take(self, src, tag=True):
        """An image with the pixels of `src`, and its AI copy. PoolError if `src` has another size or format."""
        if not self._whole(src):
            self._mismatch(src)
        img = self.acquire(tag)
        try:
            self._port.copy_into(img, src)
            if self.ai:
                img.pix_to_ai()
        except BaseException:
            self.release(img)
            raise
        return img

    def _whole(self, img):
        return img.width() == self.w and img.height() == self.h and img.format() == self._code

    def _mismatch(self, src):
        text = "take: a frame of {}x{} (format {}) for images of {}x{} {} ({}). Next: a pool of its size."
        have = (src.width(), src.height(), src.format(), self.w, self.h, self.format, self._code)
        raise PoolError(text.format(*have))

    def _new(self):
        try:
            img = self._port.new_image(self.w, self.h, self.format)
            if self.ai:
                img.pix_to_ai()
            return img
        except MemoryError as e:
            error = e
        free = gc.mem_free() if hasattr(gc, "mem_free") else None
        text = "ImagePool: no {}x{} {} image, the GC heap has {} bytes free. Next: fewer, or pool them first. {}"
        raise NoRoom(text.format(self.w, self.h, self.format, free, error), "gc", None, free)

    # A gap keeps the place while the new image is made, so that the old one's memory can be had for it.
    def _renew(self, n):
        free = self._free
        held = self._held
        gap = _Gap()
        held[id(gap)] = False
        held.pop(id(free[n]))
        free[n] = gap
        gc.collect()
        img = self._new()
        held[id(img)] = False
        free[n] = img
        held.pop(id(gap))
        self.replaced += 1


class _Gap:
    def width(self):
        return 0
