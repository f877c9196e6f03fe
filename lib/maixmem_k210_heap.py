# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The system heap of a K210 as it is: the lists of newlib's malloc, read from RAM.

Reads words, writes none, calls nothing of the firmware. Compared with a walk through RAM from
outside on 13 builds of MaixPy, v0.4.0-47 to v0.6.2-84.
"""

import sys

from maixmem import const

_RAM = const(0x80000000)
_END = const(0x80600000)
_PAGE = const(4096)
_LEAST = const(32)  # the smallest chunk, and what malloc leaves at the top
_LISTS = const(128)
_HEAD = const(8)  # bytes of a chunk that its block does not have


# A chunk has 16 bytes of head: the size of the chunk before if that is free; its own size, in bit
# 0 whether the one before is in use. A free one has after them the next and the one before in its
# list. malloc's table has the heads of 128 lists, laid out as chunks 16 bytes apart: list 0 is the
# top chunk, list 1 the last remainder, the others go by size, the smallest and oldest last. An
# empty head points to itself. `words` are the 32-bit words of RAM: all of malloc's have 64 bits,
# of which the upper ones are 0. words[i] allocates nothing on the board, but is not checked there,
# so every address is before it is used. look() allocates nothing and takes 0.05 to 0.26 ms. Bytes
# are those of chunks; `largest` is what malloc can give as one block.
class Heap:
    """malloc's free memory: `free` bytes, in `holes` chunks and from `top` on; of them `heap_free`
    bytes behind the break, as Maix.utils.heap_free() says."""

    free = largest = holes = top = heap_free = 0

    def __init__(self, words, table: int) -> None:
        self.words = words
        self.table = table  # the number of its first word

    def look(self, into: "list | None" = None) -> int:
        """Takes the figures anew. `into` gets (bytes, address) of each hole in the order in which
        malloc tries them.

        0, or the address near which the lists are not whole, at a second look either (the first
        may have been in the middle of a malloc): something wrote past the end of its block. The
        figures are those of before then."""
        place = self._look(into)
        if place:
            if into:
                into.clear()
            place = self._look(into)
        return place

    def _look(self, into):
        words = self.words
        table = self.table
        fours = words[table + 2] | 1  # of lists, those that may have a chunk
        top = words[table + 4]
        own = _RAM + 4 * table
        if not own < top < _END - _HEAD or top & 15:
            return own + 16
        size = words[((top - _RAM) >> 2) + 2]
        end = top + size - 1
        if size & 7 != 1 or end & (_PAGE - 1) or end > _END:
            return top
        largest = max(end - top, _END - end) - _LEAST
        free = holes = 0
        while fours:
            if fours & 1:
                first = table if table > self.table else table + 4  # list 0 is the top
                for head in range(first, table + 16, 4):
                    back = own = _RAM + 4 * head
                    chunk = words[head + 6]
                    while chunk != own:
                        if not _RAM < chunk < top or chunk & 15:
                            return back
                        i = (chunk - _RAM) >> 2
                        size = words[i + 2] & -16
                        if size < _LEAST or chunk + size > top or words[i + 4] != back:
                            return chunk
                        if words[i + size // 4] != size:
                            return chunk + size
                        free += size
                        largest = max(largest, size)
                        holes += 1
                        if into is not None:
                            into.append((size, chunk))
                        back = chunk
                        chunk = words[i + 6]
            step = 1 if fours & 14 else 4
            fours >>= step
            table += 16 * step
        self.free = free + _END - top
        self.largest = max(0, largest - _HEAD)
        self.holes = holes
        self.top = top
        self.heap_free = _END - end
        return 0


# --- where malloc has its lists: looked for once, in 2 to 5 ms ---


def _find():
    """The heap of this board, by malloc's table in RAM; None where that is not found."""
    try:
        import uctypes

        words = uctypes.struct(_RAM, (uctypes.ARRAY | 0, uctypes.UINT32 | (_END - _RAM) // 4))
    except (ImportError, AttributeError):
        return None
    i = id(sys.modules)  # static, and malloc's table lies below it
    i = ((i if _RAM < i < _END else _END) - _RAM) >> 3 << 1
    heap = None
    while not heap and i > 4 * _LISTS:
        own = words[i] and words[i] - _RAM - 4 * i
        back = own == -24  # the empty head of some list: its second word
        if back or own == -16:
            heap = _above(words, i - 6 if back else i - 4)
        i -= _LISTS
    return heap


def _above(words, table):
    """The heap that one of the 128 list heads up to this one is the first of, or None."""
    for _ in range(_LISTS):
        if words[table + 6] == _RAM + 4 * table != words[table + 4]:
            heap = Heap(words, table)
            return None if heap.look() else heap
        table -= 4
    return None


found = _find()
_find = _above = None  # type: ignore[assignment]  # their bytes come back
