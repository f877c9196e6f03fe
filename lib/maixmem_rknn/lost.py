# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""NPU memory that the runtime loses: found by the descriptors that it leaves open.

Where a new piece cannot be mapped (no address space left) librknnrt 1.4.0 to 1.6.0 forget it: the
driver's buffer stays with its two descriptors, rknn_create_mem returns NULL, and rknn_init may
even succeed without that piece.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple


class _Open(NamedTuple):
    fd: int
    inode: int
    nbytes: int


# While this is in use only one thread of the library makes memory (`_making` of Runtime). Kernels
# before 5.3 have one inode for all memories: there two of one size count as one.
class Opened:
    """Which descriptors are open now, to know later which memories came."""

    def __init__(self) -> None:
        self._then = _numbers()

    def new(self) -> set[_Open]:
        """The memories that were opened since."""
        found = [_memory(fd) for fd in _numbers() - self._then]
        return {each for each in found if each is not None}


def still_open(memories: set[_Open]) -> int:
    """Bytes of those that are open still, each counted once."""
    left = {(each.inode, each.nbytes) for each in memories if _memory(each.fd) == each}
    return sum(nbytes for _, nbytes in left)


def _numbers() -> set[int]:
    try:
        return {int(name) for name in os.listdir("/proc/self/fd")}
    except OSError:
        return set()


# A dma-buf, as a memfd, is an anonymous inode: what has a name is a file, the rest are no
# memories.
def _memory(fd: int) -> _Open | None:
    try:
        found = os.fstat(fd)
        kind = stat.S_IFMT(found.st_mode)
        if (found.st_nlink and kind) or kind not in (0, stat.S_IFREG):
            return None
        return _Open(fd, found.st_ino, os.lseek(fd, 0, os.SEEK_END))
    except OSError:
        return None
