# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210's RAM as words, with the lists of its system heap in them, for programs that look."""

import gc

from k210_model.heap import RAM_START as _RAM

_TABLE = _RAM + 0x1000  # where this firmware has malloc's table ...
_TABLE_WORD = 0x400
_STATE_WORD = _TABLE_WORD + 0x240  # ... and the words that say where the GC heap is
_SMALL = 512
# the main thread's state, where _thread says: top of its stack, its bytes (full, v0.6.2_84)
_MAIN = {0x20D608 >> 2: 0x802FA998, (0x20D608 >> 2) + 2: 0x7C00}


# Contract.  The 32-bit words of the board's RAM by their number, as its uctypes.struct gives them:
# malloc's table, the heads and tails of its chunks, what tells the GC heap, the main thread's
# state; zeros elsewhere.
# `poked` {address: word} are those that a program has written over; `cleared` the free chunks
# whose size is not behind them, as the firmware leaves it where it frees a model of YOLO (freeing
# what is there joins them none the less, the firmware's does not).  A word is worked out when it
# is read; numbers above 2**30 are objects on 32 bits, so words are told by their numbers.
class Ram:
    def __init__(self, heap):
        self.heap = heap
        self.poked = {}
        self.cleared = []
        self.blank = False  # nothing is there
        self.hidden = 0  # bytes of the interpreter's GC heap that are not the board's
        self._table_size = 0  # bytes of the GC heap's table, asked when their own word is read
        self._base = self._top = 0  # of the heap, when ...
        self._from = self._past = 0  # ... its words had these numbers

    def __getitem__(self, i):
        if self.poked and _RAM + 4 * i in self.poked:
            return self.poked[_RAM + 4 * i]
        heap = self.heap
        if i & 1 or self.blank or not heap.end > heap.base:
            return 0
        if _TABLE_WORD <= i < _TABLE_WORD + 516:
            return self._table((i - _TABLE_WORD) >> 1)
        if _STATE_WORD <= i < _STATE_WORD + 10:
            return self._state((i - _STATE_WORD) >> 1)
        if heap.base != self._base or heap.top != self._top:
            self._base, self._top = heap.base, heap.top
            self._from = (heap.base - _RAM) >> 2
            self._past = ((heap.top - _RAM) >> 2) + 4
        return self._chunk(_RAM + 4 * i) if self._from <= i < self._past else _MAIN.get(i, 0)

    def __setitem__(self, i, word):
        address = _RAM + 4 * i
        for hole in self.cleared:
            if hole[1] + hole[0] == address and hole[0] == word:
                self.cleared.remove(hole)
                return
        self.poked[address] = word

    def clear(self, address):
        """The firmware writes 0: seen where that is the size of a free chunk before a used one."""
        behind = [
            hole for hole in self.heap.pieces() if hole[1] + hole[0] == address < self.heap.top
        ]
        self.cleared = [hole for hole in self.heap.pieces() if self._is_cleared(hole)] + behind

    def _is_cleared(self, hole):
        for x in self.cleared:
            if x is hole:  # any change of it makes another
                return True
        return False

    def _table(self, k):
        """The k-th word of 64 bits: flags of lists, the top, then next and last of each list."""
        if k == 1:
            fours = 0
            for hole in self.heap.holes:
                fours |= 1 << (_list_of(hole[0]) >> 2)
            return fours
        if k == 2:
            return self.heap.top
        return self._beside(0, (k - 2) >> 1, k & 1) if k > 3 else k and _TABLE

    def _beside(self, at, number, newer):
        """The chunk of a list after the one at an address, or before it; its head where there is
        none. The head itself is address 0: after it comes the oldest."""
        own = _TABLE + 16 * number
        last = self.heap.last
        if number == 1:
            return last[1] if last and not at else own
        before = 0
        for hole in self.heap.holes:
            if _list_of(hole[0]) == number:
                if newer and before == at:
                    return hole[1]
                if not newer and hole[1] == at:
                    return before or own
                before = hole[1]
        return own if newer or at else before or own

    def _state(self, k):
        block = self.heap.gc_block
        if not block or not hasattr(gc, "mem_alloc"):
            return 0
        if k == 1 or not self._table_size:
            self._table_size = (gc.mem_alloc() + gc.mem_free() - self.hidden) >> 7
        n = self._table_size
        if k == 1:
            return n
        return block + (k + 1) // 2 * n + (n << 7 if k == 4 else 0)

    def _chunk(self, address):
        heap = self.heap
        found = self._hole(heap.last, address) if heap.last else -1
        for hole in heap.holes:
            if found < 0:
                found = self._hole(hole, address)
        if found >= 0:
            return found
        if address - 8 == heap.top:
            return (heap.end - heap.top) | 1
        return heap.used[address - 8] | 1 if address - 8 in heap.used else 0

    def _hole(self, hole, address):
        """A word of a free chunk, or of the head of the one after it; -1 for another address."""
        size, at = hole
        if not at < address <= at + size + 8:
            return -1
        if address == at + 8:
            return size | 1
        if address == at + size:
            return 0 if self._is_cleared(hole) else size
        if address == at + size + 8:
            return self.heap.used[at + size]
        if address == at + 16 or address == at + 24:
            number = 1 if hole is self.heap.last else _list_of(size)
            return self._beside(at, number, address == at + 24)
        return -1


def _list_of(size):
    """The number of malloc's list for free chunks of this size."""
    if size < _SMALL:
        return size >> 3
    for limit, base, shift in (
        (4, 56, 6),
        (20, 91, 9),
        (84, 110, 12),
        (340, 119, 15),
        (1364, 124, 18),
    ):
        if (size >> 9) <= limit:
            return base + (size >> shift)
    return 126


# Contract.  What the firmware's uctypes has for who looks at RAM; with the interpreter's own
# addressof, if it has one.
class Uctypes:
    ARRAY = -1 << 30
    UINT32 = 4 << 27

    def __init__(self, ram):
        self._ram = ram
        try:
            from uctypes import addressof

            self.addressof = addressof
        except ImportError:
            pass

    def struct(self, address, layout, kind=0):
        if address != _RAM or layout[0] != self.ARRAY:
            raise NotImplementedError("uctypes.struct of the stand-in: RAM as words")
        return self._ram
