# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What an rknn_init that ran out of memory keeps, had back by the runtime's own calls.

Its context must not be destroyed: the process would end (docs/linux_tested.md). But the runtime
has a table of all its memories, by the address where each is mapped, and rknn_destroy_mem looks
there for `priv`, which of a memory that rknn_create_mem made is that address. A view whose `priv`
is set to the address of what was kept takes that along: mapping, descriptor and the driver's
buffer. An address that is not in the table does nothing. Seen so on librknnrt 1.4.0 to 1.6.0.
"""

from __future__ import annotations

import re
from typing import Any

from maixmem_rknn.api import PAGE, MemSize, pages


# Each NPU memory is a shared mapping, and while this is in use only one thread of the library
# makes any (`_making` of Runtime); other code of the process that uses the same runtime just then
# is known by the bytes that are too many.
class Mapped:
    """What is mapped now, to know later what is new."""

    def __init__(self) -> None:
        self._then = _shared()

    def new(self) -> dict[int, int]:
        """{address: bytes} of what was mapped since; empty where that cannot be read."""
        now = _shared()
        return {} if now is None or self._then is None else _places(now - self._then)

    def gone(self) -> int:
        """Bytes of what was mapped and is not any more."""
        return sum(_places((self._then or set()) - (_shared() or set())).values())

    def give_back(self, calls: dict[str, Any], ctx: int, most: int) -> int:
        """Bytes of what is new, when the runtime gave all of it back, else 0; `ctx` is any context
        that works.

        Where there is more than the failed call can have made, `most` bytes, others use the
        runtime as well: nothing is touched.
        """
        new = self.new()
        if sum(new.values()) > most:
            return 0
        for start, nbytes in new.items():
            view = calls["rknn_create_mem_from_phys"](ctx, PAGE, start, nbytes)
            if view:
                view.contents.priv = start
                calls["rknn_destroy_mem"](ctx, view)
        return 0 if self.new() else sum(new.values())


# A line is "start-end mode offset device inode name"; the mode ends with s for shared. A program
# has hundreds of lines, of which few are shared, and they are read before every init: so what is
# sought begins with bytes that no other line has.
_SHARED = re.compile(rb"s [0-9a-f]{8,} [0-9a-f]+:[0-9a-f]+ ")


def _places(lines: set[bytes]) -> dict[int, int]:
    places = [line.split(None, 1)[0].split(b"-") for line in lines]
    return {int(a, 16): int(b, 16) - int(a, 16) for a, b in places}


def _shared() -> set[bytes] | None:
    try:
        with open("/proc/self/maps", "rb") as f:
            text = f.read()
    except OSError:
        return None
    at = [m.start() for m in _SHARED.finditer(text)]
    return {text[text.rfind(b"\n", 0, i) + 1 : text.find(b"\n", i)] for i in at}


# What a context holds at most that says so much of itself: each piece ends with a page.
def bound(held: MemSize) -> int:
    """Bytes at most."""
    return pages(held.dma) + (2 * PAGE if held.dma else 0)
