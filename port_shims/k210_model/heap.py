# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210's system heap: newlib's malloc on a moving break."""

from maixmem_k210_chip import RAM, chunk
from maixmem_k210_malloc import Malloc

from k210_model.values import Any

RAM_START = 0x80000000
RAM_END = RAM_START + RAM  # where the KPU's begins
_HEAD = 16  # from a chunk to the block that malloc gives


# Contract.  One Heap is the whole newlib arena of the board, from `base` to `limit`.
# The rules are those of the library's own Malloc.  malloc returns an address or 0; free wants an
# address that malloc gave.  heap_free() of the board is limit - break.
class Heap(Malloc):
    def __init__(self, say: Any = None) -> None:
        """`say` gets each line that the firmware prints about its memory."""
        self._say = say
        self.restart(RAM_START, RAM_END)

    def say(self, text: str) -> None:
        if self._say:
            self._say(text)

    def restart(self, base: int, limit: int) -> None:
        Malloc.__init__(self, [], None, base, base)
        self.base = base
        self.limit = limit
        self.highest = base
        self.gc_block = 0
        self._asked = {}  # type: dict[int, int]
        self._boot = 0

    def heap_free(self) -> int:
        return self.limit - self.end

    def lowest(self) -> int:
        """The least that heap_free() was since mark()."""
        return self.limit - self.highest

    def malloc(self, n: int) -> int:
        if n > 0x7FFFFFFF:
            return 0
        at = self.take(chunk(n))
        if not at:
            self.say("E (0) SYSCALL: Out of memory\n")
            return 0
        self.highest = max(self.highest, self.end)
        self._asked[at] = n
        return at + _HEAD

    def free(self, address: int) -> None:
        if not address:
            return
        at = address - _HEAD
        if at not in self._asked:
            raise ValueError("free(0x%x): not a block of this heap" % address)
        del self._asked[at]
        self.give(at)

    def total_free(self) -> int:
        """All that is not in use, behind the break as well."""
        return sum([n for n, _ in self.pieces()]) + self.limit - self.top

    def fill_up(self) -> None:
        """Takes what the top has without growing, and every hole: what is left is heap_free()."""
        for size, _ in self.pieces():
            self.malloc(size - 8)
        self.malloc(self.end - self.top - 40)

    def asked(self, address: int) -> int:
        """Bytes that were asked for a block."""
        return self._asked[address - _HEAD]

    def pieces(self) -> "list[tuple[int, int]]":
        """(bytes, address) of each free chunk below the top."""
        return self.holes + ([self.last] if self.last else [])

    def spent(self) -> int:
        """Bytes of all blocks."""
        return sum(self._asked.values())

    def live(self) -> int:
        """Bytes of the blocks that mark() does not count."""
        return self.spent() - self._boot

    def mark(self, live: int = 0) -> None:
        """From now on live() counts from this many bytes, and lowest() from here."""
        self.highest = self.end
        self._boot = self.spent() - live
