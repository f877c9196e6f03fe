# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where functions begin in a firmware without symbols, and which of them Python calls by name.

A function begins where a call or a Python object points. Names: py/obj.h has tables of (name,
object) pairs in ROM, a name being its number times four plus two, and the object of a function its
type and then the address. A module's table begins with its own name.
"""

from __future__ import annotations

import bisect
import struct
from array import array
from collections import Counter

from k210_model.heap import RAM_START

from maixmem_cli.emulator.readers.signatures import allocator, call_targets
from maixmem_cli.heap.qstrs import Qstrs

_MODULE = "__name__"
_FEWEST = 20  # functions that share a type, at least


class Functions:
    """The functions of one image, by the bytes of its code."""

    def __init__(self, code: bytes) -> None:
        self._code = code
        self._end = RAM_START + len(code)
        self._words = array("Q", code[: len(code) & ~7])
        self.names = self._named()
        self.names.update(
            {at: f"{name}() of the C library" for name, at in allocator(code).items()}
        )
        self._begins = sorted({*call_targets(code), *self.names})

    def begin(self, address: int) -> int | None:
        """Where the function begins that has this address in it, as far as the image shows."""
        i = bisect.bisect_right(self._begins, address)
        return self._begins[i - 1] if i else None

    def describe(self, address: int) -> str:
        """The function of an address in words."""
        begin = self.begin(address)
        if begin is None:
            return f"{address:#x}, in no function that is known"
        name = self.names.get(begin)
        text = name if name else "a function that Python does not call by name"
        return f"{address:#x}, {text} (it begins at {begin:#x})"

    def _inside(self, address: int) -> bool:
        return RAM_START < address < self._end

    def _function(self, address: int) -> tuple[int, int] | None:
        """(type, address of the code) of an object that may be a function."""
        if not self._inside(address) or address & 7 or address + 24 > self._end:
            return None
        kind, first, second = struct.unpack_from("<3Q", self._code, address - RAM_START)
        if not self._inside(kind) or kind & 7:
            return None
        target = first if self._inside(first) else second
        return (kind, target) if self._inside(target) and not target & 1 else None

    def _named(self) -> dict[int, str]:
        """{address of a function: "module.name" or "name()"}."""
        qstrs = Qstrs(self._code[: len(self._code) & ~7])
        pairs, module = [], ""
        for i in range(len(self._words) - 1):
            key, value = self._words[i], self._words[i + 1]
            if key & 3 != 2 or not 8 < key < 1 << 18:
                continue
            name = qstrs.text(key >> 2)
            if name == _MODULE and value & 3 == 2:
                module = qstrs.text(value >> 2)
            found = self._function(value)
            if found and name.isidentifier():
                pairs.append((*found, name, module))
        kinds = Counter(kind for kind, _, _, _ in pairs)
        return {
            target: f"{module}.{name}()" if module else f"{name}()"
            for kind, target, name, module in pairs
            if kinds[kind] >= _FEWEST
        }
