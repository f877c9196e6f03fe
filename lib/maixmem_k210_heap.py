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
# so every address is before it is used. look() allocates nothing, in 0.05 to 0.26 ms; `holes` gets
# (bytes, address) of each hole in the order in which malloc tries them. What is not whole:
# something wrote past the end of its block, or a malloc was under way, so look twice; the figures
# are those of before then. Bytes are those of chunks; `largest` is what malloc can give as one
# block.
class Heap:
    """malloc's free memory: `free` bytes, in `holes` chunks and from `top` on; of them `heap_free`
    bytes behind the break, as Maix.utils.heap_free() says."""

    def __init__(self, words, table: int) -> None:
        self.words = words
        self.table = table  # the number of its first word

    def look(self, holes: "list | None" = None) -> int:
        """The figures anew. 0, or the address near which the lists are not whole."""
        words, table = self.words, self.table
        ram = _RAM
        fours = words[table + 2] | 1  # of lists, those that may have a chunk
        top = words[table + 4]
        back = ram + 4 * table
        if not back < top < _END - _HEAD or top & 15:
            return back + 16
        size = words[((top - ram) >> 2) + 2]
        end = top + size - 1
        if size & 7 != 1 or end & (_PAGE - 1) or end > _END:
            return top
        largest = max(end - top, _END - end) - _LEAST
        free = number = 0
        while fours:
            if fours & 1:
                for head in range(table + 4 * (table == self.table), table + 16, 4):
                    back = own = ram + 4 * head
                    chunk = words[head + 6]
                    while chunk != own:
                        if not ram < chunk < top or chunk & 15:
                            return back
                        i = (chunk - ram) >> 2
                        size = words[i + 2] & -16
                        if size < _LEAST or chunk + size > top or words[i + 4] != back:
                            return chunk
                        if words[i + size // 4] != size:
                            return chunk + size
                        free += size
                        number += 1
                        largest = max(largest, size)
                        if holes is not None:
                            holes.append((size, chunk))
                        back = chunk
                        chunk = words[i + 6]
            step = 1 if fours & 14 else 4
            fours >>= step
            table += 16 * step
        self.free = free + _END - top
        self.largest = max(0, largest - _HEAD)
        self.holes = number
        self.top = top
        self.heap_free = _END - end
        return 0


def find() -> "Heap | None":
    """The heap of this board, by malloc's table in RAM; None where that is not found."""
    try:
        import uctypes

        words = uctypes.struct(_RAM, (uctypes.ARRAY | 0, uctypes.UINT32 | (_END - _RAM) // 4))
    except (ImportError, AttributeError):
        return None
    i = id(sys.modules)  # static, and malloc's table lies below it; a stand-in's is the first
    i = ((i if _RAM < i < _END else _RAM + 16384) - _RAM) >> 3 << 1
    while i > 4 * _LISTS:
        own = words[i] and words[i] - _RAM - 4 * i
        if own in (-16, -24):  # the empty head of some list, its first or second word
            table = i - 4 if own == -16 else i - 6
            for _ in range(_LISTS):  # the first head of all points to itself, and to the top
                if words[table + 6] == _RAM + 4 * table != words[table + 4]:
                    heap = Heap(words, table)
                    if not heap.look():
                        return heap
                    break
                table -= 4
        i -= _LISTS
    return None


heap = find()
find = None  # type: ignore[assignment]  # its bytes come back
