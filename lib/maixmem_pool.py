# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Buffers that are allocated once and handed out again and again.

    pool = BufferPool(38400, 4)
    with pool.borrow("uart") as buf:
        n = uart.readinto(buf)

A heap that is half free still refuses a buffer when the free half is in pieces. A pool asks once.
Images, each with its AI copy:

    frames = ImagePool(320, 240, "rgb565", 2, ai=True)
    img = frames.take(sensor.snapshot())
    objects = net.run_yolo2(img)
    frames.release(img)

Blocks of any size: maixmem_arena. How many bytes: maixmem_image.
"""

import gc

from maixmem import NoRoom, PoolEmpty, PoolError, const, full, message, port, run_once

try:
    from uctypes import addressof
except ImportError:  # CPython and CircuitPython do not tell an address
    addressof = None

_LOANS = const(4)
_id = id  # found at once as a global; a builtin is searched for at every use


# `count` buffers of `nbytes` bytes in one block: the same memoryview objects for as long as the
# pool lives. The pool owns them all, a holder owns its one from acquire() until release().
# Allocation: the constructor takes one block (or uses the `block` it is given, bytes it can write
# to) and at most 64 bytes a buffer plus 1 KiB. acquire(), release() and borrow() are O(1) and
# allocate nothing; borrow() makes one object, and keeps it, when more loans are open at once than
# ever before and more than four. (Where the heap lies above 0x40000000 on a 32-bit board, id()
# makes an int object in each of them.) Starts are multiples of `align` in memory where uctypes
# tells the address, else counted from the block's start. Failure: PoolEmpty, PoolError or
# MemoryError leave the pool as it was.
# Ctrl-C, the scheduler and thread switches come at jumps, and no jump follows the first write of
# acquire() and release(): no thread sees them half done. A hard interrupt does.
class BufferPool:
    """Equal buffers that are allocated once."""

    def __init__(self, nbytes: int, count: int, align: int = 1, block=None) -> None:
        for n in (nbytes, count, align):
            if not isinstance(n, int) or n < 1:
                raise ValueError(message("BufferPool", nbytes, count, align, n))
        stride = (nbytes + align - 1) // align * align
        if block is None:
            block = bytearray(stride * count + align - 1)
        start = -addressof(block) % align if addressof else 0
        end = start + stride * count
        if end > len(block):
            raise ValueError(message("block", "BufferPool", len(block), end))
        view = memoryview(block)
        self._fill([view[i : i + nbytes] for i in range(start, end, stride)])
        self.nbytes = nbytes
        self.block = block

    # _free: how many are free, then the buffers, the last of the free ones next. _held: {id of
    # buffer: state}; a state is None (never handed out), False (free) or the holder's tag. The
    # free ones being a stack, as many were ever handed out as were out at once at most.
    def _fill(self, items):
        self._free = [len(items)] + items
        self._held = {id(item): None for item in items}
        self.count = len(items)
        self.failures = 0  # how often acquire() found none free
        self._loan = None
        for _ in items[:_LOANS]:
            self._loan = _Loan(self, self._loan)

    # These two keep to eleven words of locals and stack: beyond, MicroPython takes the frame from
    # the heap.

    def acquire(self, tag: object = True):
        """A buffer with whatever bytes it had, held under `tag` (any true value). PoolEmpty when
        all are out."""
        free = self._free
        n = free[0]
        if not n:
            self._empty()
        buf = free[n]
        self._held[_id(buf)], free[0] = tag or True, n - 1
        return buf

    def release(self, buf, tag: object = None) -> None:
        """Gives a buffer back. PoolError if it is not out or, with a `tag`, if it is out under
        another."""
        held = self._held
        k = _id(buf)
        if not held.get(k) or (tag and held[k] != tag):
            self._refuse(k, tag)
        free = self._free
        n = free[0] + 1
        free[n] = buf
        held[k], free[0] = False, n

    def borrow(self, tag: object = True) -> "_Loan":
        """acquire() for a with statement, which gives the buffer back at its end, whatever happens
        in it."""
        loan = self._loan or _Loan(self, None)
        loan.tag = tag
        loan.item = self.acquire(loan)
        self._loan = loan.next
        return loan

    def _empty(self):
        self.failures += 1
        try:
            e = PoolEmpty(message("acquire", self.count, self.holders()))  # type: MemoryError
        except MemoryError:
            e = full
            e.__traceback__ = None
        raise e

    def _refuse(self, k, tag):
        state = self._held.get(k, "")
        key = "stale" if state else "foreign" if state == "" else "double"
        raise PoolError(message(key, state, tag))

    @property
    def in_use(self) -> int:
        """How many are out now."""
        return self.count - self._free[0]

    @property
    def high_water(self) -> int:
        """How many were out at once at most."""
        return self.count - list(self._held.values()).count(None)

    def holders(self) -> list:
        """The tags of those that are out (True where none was given), in no order."""
        return [t.tag if isinstance(t, _Loan) else t for t in self._held.values() if t]

    def check(self) -> int:
        """Walks the pool; PoolError if a buffer is lost or twice in it. Returns how many are
        out."""
        return run_once("pool_check", "check", self)


# What borrow() gives: it holds the buffer under itself, so that it can only give back what it
# took.
class _Loan:
    def __init__(self, pool, next):
        self.pool = pool
        self.next = next
        self.item = self.tag = None

    def __enter__(self):
        return self.item

    def __exit__(self, kind, value, trace):
        pool = self.pool
        pool.release(self.item, self)
        self.item = None
        self.next, pool._loan = pool._loan, self


# `count` images of exactly w x h pixels in one format of the platform's port; with `ai` (MaixPy)
# each owns its AI copy from the start. A BufferPool of images: release(), borrow(), tags and
# errors are the same. The constructor allocates all images; take() and acquire() nothing, but that
# the firmware's copy() in take() leaves 64 bytes (v0.6.2_84). An image whose holder changed its
# size or format (crop(), to_grayscale()) is replaced before it is handed out again, the only time
# that acquire() allocates; `replaced` counts them. NoRoom if that fails: the next acquire() tries
# again. Where there is no room otherwise, a new pool takes over the images of the one like it that
# a global name still holds, of an earlier run, and closes it: its acquire() is PoolEmpty. Never
# call img.__del__() on an image of the pool: it frees the pixels, and the next take() writes at
# address 0. Nothing cheap can tell: release() it.
class ImagePool(BufferPool):
    """Images of one size and format that are allocated once."""

    def __init__(
        self, w: int, h: int, format: str = "rgb565", count: int = 2, ai: bool = False
    ) -> None:
        for n in (w, h, count):
            if not isinstance(n, int) or n < 1:
                raise ValueError(message("ImagePool", w, h, count, n))
        self.w = w
        self.h = h
        self.format = format
        self.ai = ai
        self.replaced = 0
        self._port = port()
        items = []  # type: list
        try:
            while len(items) < count:
                items.append(self._new())
        except NoRoom:
            items.clear()
            if not run_once("pool_check", "take_over", self, count, items):
                raise
        self._code = items[0].format()
        self._fill(items)
        self._items = items  # all of them: the stack lets go of those that are out

    def acquire(self, tag: object = True):
        """An image of the pool's size and format with whatever pixels it had. PoolEmpty when all
        are out."""
        n = self._free[0]
        if n and not self._whole(self._free[n]):
            run_once("pool_check", "renew", self, n)
        return super().acquire(tag)

    def take(self, src, tag: object = True):
        """An image with the pixels of `src`, and its AI copy. PoolError if `src` has another size
        or format."""
        if not self._whole(src):
            have = (src.width(), src.height(), src.format(), self.w, self.h, self.format)
            raise PoolError(message("take", *have))
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

    def _new(self):
        try:
            img = self._port.new_image(self.w, self.h, self.format)
            if self.ai:
                img.pix_to_ai()
            return img
        except AttributeError as e:
            raise NotImplementedError(message("missing", e))
        except MemoryError as e:
            error = e
        gc.collect()  # what the attempt left
        free = gc.mem_free() if hasattr(gc, "mem_free") else None
        text = message("image_pool_room", self.w, self.h, self.format, free, error)
        raise NoRoom(text, "gc", None, free)
