# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Buffers that are made once and handed out again and again.

    pool = BufferPool(38400, 4)
    with pool.borrow("uart") as buf:
        n = uart.readinto(buf)

A heap that is half free still refuses a buffer when the free half is in pieces. A pool asks once.
Images: maixmem_imagepool. Blocks of any size: maixmem_arena. How many bytes: maixmem_image.
"""

from maixmem import PoolEmpty, PoolError

try:
    from uctypes import addressof
except ImportError:  # CPython and CircuitPython do not tell an address
    addressof = None

_LOANS = 4
_id = id  # found at once as a global; a builtin is searched for at every use


# `count` buffers of `nbytes` bytes in one block: the same memoryview objects for as long as the pool lives.
# The pool owns them all, a holder owns its one from acquire() until release().
# Allocation: the constructor takes one block (or uses the `block` it is given, bytes it can write to) and at
# most 64 bytes a buffer plus 1 KiB. acquire(), release() and borrow() are O(1) and allocate nothing; borrow()
# makes one object, and keeps it, when more loans are open at once than ever before and more than four.
# (Where the heap lies above 0x40000000 on a 32-bit board, id() makes an int object in each of them.)
# Starts are multiples of `align` in memory where uctypes tells the address, else counted from the block's start.
# Failure: PoolEmpty, PoolError or MemoryError leave the pool as it was.
# Ctrl-C, the scheduler and thread switches come at jumps, and no jump follows the first write of acquire() and
# release(): no thread sees them half done. A hard interrupt does.
class BufferPool:
    """Equal buffers that are allocated once."""

    def __init__(self, nbytes, count, align=1, block=None):
        for n in (nbytes, count, align):
            if not isinstance(n, int) or n < 1:
                text = "BufferPool({!r}, {!r}, {!r}): {!r} must be an int, 1 or more. Next: divide with //."
                raise ValueError(text.format(nbytes, count, align, n))
        stride = (nbytes + align - 1) // align * align
        if block is None:
            block = bytearray(stride * count + align - 1)
        start = -addressof(block) % align if addressof else 0
        end = start + stride * count
        if end > len(block):
            raise ValueError(
                "BufferPool: the block has {} bytes. Next: give it {}.".format(len(block), end)
            )
        view = memoryview(block)
        self._fill([view[i : i + nbytes] for i in range(start, end, stride)])
        self.nbytes = nbytes
        self.block = block

    # _free: how many are free, then the buffers, the last of the free ones next. _held: {id of buffer: state};
    # a state is None (never handed out), False (free) or the holder's tag. The free ones being a stack, as
    # many were ever handed out as were out at once at most.
    def _fill(self, items):
        self._free = [len(items)] + items
        self._held = {id(item): None for item in items}
        self.count = len(items)
        self.failures = 0
        self._loan = None
        for _ in range(_LOANS):
            self._loan = _Loan(self, self._loan)

    # These two keep to eleven words of locals and stack: beyond, MicroPython takes the frame from the heap.

    def acquire(self, tag=True):
        """A buffer with whatever bytes it had, held under `tag` (any true value). PoolEmpty when all are out."""
        free = self._free
        n = free[0]
        if not n:
            self._empty()
        buf = free[n]
        self._held[_id(buf)], free[0] = tag or True, n - 1
        return buf

    def release(self, buf, tag=None):
        """Gives a buffer back. PoolError if it is not out or, with a `tag`, if it is out under another."""
        held = self._held
        k = _id(buf)
        if not held.get(k) or (tag and held[k] != tag):
            self._refuse(k, tag)
        free = self._free
        n = free[0] + 1
        free[n] = buf
        held[k], free[0] = False, n

    def borrow(self, tag=True):
        """acquire() for a with statement, which gives the buffer back at its end, whatever happens in it."""
        loan = self._loan or _Loan(self, None)
        loan.tag = tag
        loan.item = self.acquire(loan)
        self._loan = loan.next
        return loan

    def _empty(self):
        self.failures += 1
        text = "all {} are out, held by {}. Next: release one or pool more"
        raise PoolEmpty(text.format(self.count, self.holders()))

    def _refuse(self, k, tag):
        state = self._held.get(k, "")
        if state:
            why = "stale, {!r} holds it now, not {!r}".format(state, tag)
        else:
            why = (
                "foreign, not an object that acquire() gave"
                if state == ""
                else "double, it is free already"
            )
        raise PoolError("release: " + why)

    @property
    def in_use(self):
        """How many are out now."""
        return self.count - self._free[0]

    @property
    def high_water(self):
        """How many were out at once at most."""
        return self.count - list(self._held.values()).count(None)

    def holders(self):
        """The tags of those that are out (True where none was given), in no order."""
        return [t.tag if isinstance(t, _Loan) else t for t in self._held.values() if t]

    def check(self):
        """Walks the pool; PoolError if a buffer is lost or twice in it. Returns how many are out."""
        used = self.in_use
        free = {id(buf) for buf in self._free[1 : self.count - used + 1]}
        good = [k for k in free if not self._held.get(k, True)]
        if len(good) + used != self.count or len(self.holders()) != used:
            raise PoolError(
                "damaged: {} of {} are out, held by {}".format(used, self.count, self.holders())
            )
        return used


# What borrow() gives: it holds the buffer under itself, so that it can only give back what it took.
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
