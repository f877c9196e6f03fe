# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How the tables of dicts and sets grow: each is allocated anew, for the next number of entries.
Source: py/map.c of MicroPython 1.11.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, takewhile

from k210_model.gc_heap import BLOCK

OF_DICT, OF_SET = 16, 8  #: bytes of an entry
_ENTRIES = [1, 2, 4, 6, 8, 10, 12, 17, 23, 29, 37, 47, 59, 73, 97, 127, 167, 223, 293, 389, 521]
_ENTRIES += [691, 919, 1223, 1627, 2161, 3229, 4831, 7243, 10861, 16273, 24410, 36616]
_SEEN = 4  # sizes that follow each other: fewer may be those of anything


def _sizes(of: int) -> list[int]:
    """Bytes of the blocks of each, the least first."""
    return [n for n, _ in groupby(-(-entries * of // BLOCK) * BLOCK for entries in _ENTRIES)]


_SIZES = {of: _sizes(of) for of in (OF_DICT, OF_SET)}


def entry_of(seen: Sequence[int]) -> int:
    """Bytes of an entry of what had these sizes, one after the other; 0: it is no such table. Even
    steps may be those of bytes that are added."""
    for of, sizes in _SIZES.items():
        at = sizes.index(seen[-1]) if seen and seen[-1] in sizes else -1
        both = zip(reversed(seen), reversed(sizes[: at + 1]))
        last = [n for n, _ in takewhile(lambda pair: pair[0] == pair[1], both)]
        uneven = len({a - b for a, b in zip(last, last[1:])}) > 1
        if uneven and len(last) >= _SEEN:
            return of
    return 0


def larger(nbytes: int, of: int) -> int:
    """Bytes of the next table after one of so many."""
    return next((n for n in _SIZES[of] if n > nbytes), nbytes * 3 // 2)
