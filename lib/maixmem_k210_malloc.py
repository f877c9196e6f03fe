# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""newlib's malloc of the K210's firmware as arithmetic: what it would do next. Touches no memory
of a board.

Best fit, the oldest among equals; what is left of a chunk that was cut is tried before others; the
top grows by whole requests and goes back in pages. 1,717 loads on four builds of MaixPy v0.6.2-84
ended as forecast, to the byte.
"""

from maixmem import const
from maixmem_k210_chip import HELD, PAGE, SIZE, TRANSIENT, TRIM

_LEAST = const(32)  # the smallest chunk, and what stays at the top
_SMALL = const(512)  # below, a list has one size
_LIMIT = const(0x80600000)


# Bytes are those of chunks, multiples of 16: maixmem_k210_chip.chunk(). `holes` are the free ones
# below the top, a list of (bytes, address) in the order in which malloc tries them, without
# `last`, the last remainder, one such pair or None. `used` has the bytes of the chunks that take()
# made, and of others for give().
class Malloc:
    """The free chunks from `top` to `end`, where the break is, and below."""

    limit = _LIMIT  # the end of RAM

    def __init__(self, holes: list, last: "tuple | None", top: int, end: int) -> None:
        self.holes = holes
        self.last = last
        self.top = top
        self.end = end
        self.used = {}  # type: dict[int, int]

    def take(self, n: int) -> int:
        """The address of a chunk of n bytes, or of 16 more where nothing else could be split off
        them; 0: there is none."""
        holes = self.holes
        i = 0
        while i < len(holes) and holes[i][0] < n:
            i += 1
        last = self.last
        if last and not (i < len(holes) and _fits(holes[i][0], n)):
            self.last = None
            if last[0] >= n:
                return self._cut(last, n)
            self._insert(last)
            i += 1
        if i < len(holes):
            return self._cut(holes.pop(i), n)
        if self.end - self.top < n + _LEAST:
            end = (self.end + n + _LEAST + PAGE - 1) & -PAGE
            if end > self.limit:
                return 0
            self.end = end
        at = self.top
        self.top += n
        self.used[at] = n
        return at

    def give(self, at: int) -> None:
        """A chunk goes back, joined with its neighbours; a large top goes back to heap_free()."""
        n = self.used.pop(at)
        was_last = False
        for hole in self.holes + [self.last]:
            if hole and (hole[1] + hole[0] == at or hole[1] == at + n):
                if hole is self.last:
                    was_last = True
                    self.last = None
                else:
                    self.holes.remove(hole)
                n += hole[0]
                at = min(at, hole[1])
        if at + n == self.top:
            self.top = at
            n = self.end - at
            if n >= TRIM:
                self.end -= (n - _LEAST - 1) // PAGE * PAGE
        elif was_last:
            self.last = (n, at)
        else:
            self._insert((n, at))

    def load(self, pieces) -> int:
        """The mallocs of a load (Cost.chunks) in order: 0, or the first piece for which there is
        no memory."""
        held = 0
        for piece in pieces:
            at = self.take(piece & SIZE)
            if not at:
                return piece
            if piece & HELD:
                held = at
            elif piece & TRANSIENT:
                self.give(at)
                if held:
                    self.give(held)
                    held = 0
        return 0

    def _cut(self, hole, n):
        size, at = hole
        if size - n >= _LEAST:
            self.last = (size - n, at + n)
            size = n
        self.used[at] = size
        return at

    def _insert(self, hole):
        i = 0
        while i < len(self.holes) and self.holes[i][0] <= hole[0]:
            i += 1
        self.holes.insert(i, hole)


def _fits(size, n):
    """Whether a free chunk of this size is taken for n bytes before the last remainder: one of its
    list, uncut."""
    if n < _SMALL or size - n >= _LEAST:
        return size == n
    shift, limit = 6, 4
    while n >> 9 > limit:
        shift, limit = shift + 3, 4 * limit + 4
    return shift > 18 or n >> shift == size >> shift
