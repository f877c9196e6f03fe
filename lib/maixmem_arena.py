# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One block of memory, cut into pieces of any size as a program goes.

    arena = Arena(200000, align=32)
    at = arena.alloc(38400)
    frame = arena.view(at)
    arena.free(at)

For device memory give the address that the platform's own allocator returned, and the platform's
rule:

    arena = Arena(nbytes, rule=ASCEND_RT, block=pointer)
    at = arena.alloc(1000)
"""

from maixmem import NoRoom, PoolError, message

# A rule is (round, extra, align, page): a piece of n bytes takes n rounded up to `round`, plus
# `extra`, and starts at a multiple of `align`; a block that is asked of the system is rounded up
# to `page`. Sources: the vendors' manuals (Ascend: acl.rt.malloc and acl.media.dvpp_malloc of CANN
# 5.0.4.6; their two pages disagree on the start inside a DVPP block, 64 or 128: JPEGD needs 128)
# and measurement of the RKNN runtime (blocks of whole pages).
PLAIN = (1, 0, 1, 1)
RKNN = (4096, 0, 4096, 4096)
MAIXCAM_IMAGE = (1, 4096, 1, 1)  # image.Image moves its data on to the next page, always
ASCEND_RT = (32, 32, 64, 1)
ASCEND_DVPP = (32, 32, 128, 2 << 20)


def round_up(n, unit):
    """The least multiple of `unit` that is n or more."""
    return (n + unit - 1) // unit * unit


def piece_bytes(nbytes, rule=PLAIN):
    """What a piece of `nbytes` takes under a rule."""
    return round_up(nbytes, rule[0]) + rule[1]


def block_bytes(sizes, rule=PLAIN):
    """The bytes of a block for pieces of these sizes laid one after the other, before rounding to
    pages."""
    end = 0
    for n in sizes:
        end = round_up(end, rule[2]) + piece_bytes(n, rule)
    return end


# The arena owns its block: a bytearray of its own, the `block` of bytes it is given, or, if that
# is a number, device memory from there, of which it only counts addresses. A piece is its taker's
# from alloc() to free(). Allocation on the GC heap: the block; then 32 bytes and a list slot for
# each live piece, at most `pieces` of them. alloc() and free() take time in proportion to the live
# pieces. What is free needs no bookkeeping: it is what lies between the pieces, so neighbours that
# are freed are one hole at once.
# alloc() takes the hole that fits best. An eighth of the arena or more goes to the low end of it,
# the lesser to the high end, which keeps the large holes large.
# Failure: NoRoom and PoolError leave the arena as it was. An address that was freed and handed out
# again cannot be told from the new one: drop an address when you free it.
class Arena:
    """A general allocator over one block; addresses count from its start, or from the number given
    as block."""

    def __init__(self, nbytes, align=1, rule=PLAIN, block=None, pieces=64):
        for n in (nbytes, align, pieces):
            if not isinstance(n, int) or n < 1:
                raise ValueError(message("Arena", nbytes, align, pieces, n))
        if block is None:
            block = bytearray(nbytes)
        device = isinstance(block, int)
        if not device and len(block) < nbytes:
            raise ValueError(message("block", "Arena", len(block), nbytes))
        self.nbytes = nbytes
        self.base = block if device else 0
        self.align = max(align, rule[2])
        self.rule = rule
        self.pieces = pieces
        self.failures = 0
        self.block = None if device else block
        self._live = []  # (start, end, bytes asked for), by address

    def alloc(self, nbytes):
        """The address of a piece of at least `nbytes`. NoRoom when no hole is large enough."""
        if not isinstance(nbytes, int) or nbytes < 1:
            raise ValueError(message("alloc", nbytes))
        size = piece_bytes(nbytes, self.rule)
        index, start = self._find(size)
        if index is None or len(self._live) == self.pieces:
            self.failures += 1
            live = len(self._live)
            text = message("piece", nbytes, size, self.largest, self.available, live, self.pieces)
            raise NoRoom(text, "arena", size, self.largest)
        self._live.insert(index, (start, start + size, nbytes))
        return start

    def free(self, address):
        """Gives a piece back by its address. PoolError if no live piece starts there."""
        self._live.pop(self._index(address))

    def view(self, address):
        """The bytes that were requested at this address, as a new memoryview (one object)."""
        if self.block is None:
            raise PoolError("view: this arena counts addresses, its memory is the device's")
        start, _, nbytes = self._live[self._index(address)]
        return memoryview(self.block)[start : start + nbytes]

    @property
    def available(self):
        """Free bytes in all holes."""
        return self.nbytes - sum([end - start for start, end, _ in self._live])

    @property
    def largest(self):
        """The largest `nbytes` for which alloc() has a hole now, 0 if none."""
        unit, extra = self.rule[:2]
        room = max([end - round_up(start, self.align) for start, end in self._holes()] or [0])
        return max(0, (room - extra) // unit * unit)

    def walk(self):
        """All of the block by address: (start, bytes, whether in use), as a list."""
        rows = [(start, end - start, False) for start, end in self._holes()]
        return sorted(rows + [(start, end - start, True) for start, end, _ in self._live])

    def check(self):
        """Walks the block; PoolError if pieces overlap, leave it or start unaligned. Returns how
        many are live."""
        last = self.base
        for start, end, nbytes in self._live:
            if start < last or start % self.align or end - start != piece_bytes(nbytes, self.rule):
                text = "damaged: piece {} to {} of {} bytes, the one before ends at {}"
                raise PoolError(text.format(start, end, nbytes, last))
            last = end
        if last > self.base + self.nbytes:
            raise PoolError(
                "damaged: the last piece ends at {} of {}".format(last, self.base + self.nbytes)
            )
        return len(self._live)

    # The holes by address, as (start, end).
    def _holes(self):
        holes = []
        at = self.base
        for start, end, _ in self._live:
            if start > at:
                holes.append((at, start))
            at = end
        if at < self.base + self.nbytes:
            holes.append((at, self.base + self.nbytes))
        return holes

    # Where a piece of `size` goes: (its place among the live ones, its start), or (None, None).
    def _find(self, size):
        align = self.align
        low = size * 8 >= self.nbytes
        best = None
        found = None, None
        at = self.base
        index = 0
        for start, end, _ in self._live + [(self.base + self.nbytes, 0, 0)]:
            a = round_up(at, align) if low else (start - size) // align * align
            hole = start - at
            if at <= a <= start - size and (
                best is None or hole < best or (hole == best and not low)
            ):
                best = hole
                found = index, a
            at = end
            index += 1
        return found

    def _index(self, address):
        for i in range(len(self._live)):
            if self._live[i][0] == address:
                return i
        raise PoolError(
            "no piece starts at {}: freed already, or not of this arena".format(address)
        )
