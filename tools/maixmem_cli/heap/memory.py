# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where a reader's words come from: bytes that are at hand, or pages that are fetched as they are
missed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Sequence
from typing import Callable, Literal

Range = tuple[int, int]  #: from an address to the one after the last
_CODES: dict[int, Literal["I", "Q"]] = {4: "I", 8: "Q"}


class Memory(ABC):
    """Little-endian words of `size` bytes. What is missing reads as 0."""

    size: int
    here = True  #: all of it: nothing is to be fetched

    @abstractmethod
    def word(self, address: int) -> int:
        """The word that has this address in it."""

    def read(self, address: int, n: int) -> bytes:
        """So many bytes from an address on."""
        first = address - address % self.size
        words = (self.word(at) for at in range(first, address + n, self.size))
        return array(_CODES[self.size], words).tobytes()[address - first :][:n]

    def missed(self) -> bool:
        """Whether something was read since the last call that fetch() could bring."""
        return False

    def fetch(self) -> bool:
        """Brings what was missed; False: nothing more comes."""
        return False


class Ram(Memory):
    """Bytes from `base` on, as they are now: no copy of them."""

    def __init__(self, data: bytes | bytearray | memoryview, base: int, size: int = 8) -> None:
        self.size = size
        self._base = base
        self._words = memoryview(data)[: len(data) // size * size].cast(_CODES[size])
        self._end = base + len(self._words) * size

    def word(self, address: int) -> int:
        if not self._base <= address < self._end:
            return 0
        return self._words[(address - self._base) // self.size]


class Two(Memory):
    """One memory for the addresses in `of_first`, which may grow, another for the rest."""

    def __init__(self, first: Memory, of_first: list[Range], rest: Memory) -> None:
        self.size = first.size
        self.of_first = of_first
        self.here = first.here and rest.here
        self._first, self._rest = first, rest

    def word(self, address: int) -> int:
        for low, high in self.of_first:
            if low <= address < high:
                return self._first.word(address)
        return self._rest.word(address)


Ask = Callable[[Sequence[Range]], Iterable[bytes]]  #: gives the bytes of each range


# Owns what it has fetched. Reads nothing outside of `readable`: an address that is no memory stops
# a board.
class Pages(Memory):
    """Memory behind a cable, or in a file: pages come when they are missed, many at once."""

    here = False

    def __init__(
        self, size: int, page: int, readable: Sequence[Range], ask: Ask | None = None
    ) -> None:
        self.size = size
        self.page = page
        self.readable = list(readable)
        self.pages: dict[int, bytes] = {}
        self._ask = ask
        self._wanted: set[int] = set()
        self._missed = False

    def word(self, address: int) -> int:
        first = address - address % self.page
        page = self.pages.get(first)
        if page is None:
            self._want(first)
            return 0
        at = (address - first) // self.size * self.size
        return int.from_bytes(page[at : at + self.size], "little")

    def _want(self, first: int) -> None:
        inside = (low <= first and first + self.page <= high for low, high in self.readable)
        if self._ask and any(inside):
            self._wanted.add(first)
            self._missed = True

    def need(self, address: int, n: int) -> None:
        """These bytes are wanted with the next fetch()."""
        for first in range(address - address % self.page, address + n, self.page):
            if first not in self.pages:
                self._want(first)

    def forget(self, address: int, n: int) -> None:
        """These bytes have changed since they came."""
        for first in range(address - address % self.page, address + n, self.page):
            self.pages.pop(first, None)

    def put(self, address: int, data: bytes) -> None:
        """Whole pages, from the beginning of one on. A page that came before stays: what refers to
        each other is of one time, as far as it can be."""
        for at in range(0, len(data), self.page):
            self.pages.setdefault(address + at, data[at : at + self.page])

    def seal(self) -> None:
        """Nothing more comes: who answered has ended."""
        self._ask = None

    def missed(self) -> bool:
        was, self._missed = self._missed, False
        return was

    def fetch(self) -> bool:
        if not self._ask or not self._wanted:
            return False
        ranges = ranges_of(self._wanted, self.page)
        self._wanted = set()
        for (low, _), data in zip(ranges, self._ask(ranges)):
            self.put(low, data)
        return True


def ranges_of(pages: Iterable[int], page: int) -> list[Range]:
    """Few ranges that have these pages in them: a gap of one page is read too, which is shorter
    than another question."""
    out: list[Range] = []
    for first in sorted(pages):
        if out and first - out[-1][1] <= page:
            out[-1] = (out[-1][0], first + page)
        else:
            out.append((first, first + page))
    return out
