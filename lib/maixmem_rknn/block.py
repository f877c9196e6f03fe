# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Memory that a model works in and that the runtime did not make for it: a camera's, another
program's, a pool's."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import struct
from typing import Any, NamedTuple

from maixmem_text import say

# linux/dma-buf.h: DMA_BUF_IOCTL_SYNC is _IOW('b', 0, u64); flags read 1, write 2, end 4
_SYNC = 0x40086200
_WRITE_BEGINS, _WRITE_ENDS = 2, 2 | 4
_READ_BEGINS, _READ_ENDS = 1, 1 | 4


# Memory that several contexts look at. `virt` is where it starts for the CPU; either `fd` (a
# dma-buf) or `phys` names it for the NPU. It belongs to whoever made it: rknn_create_mem
# (Block.of), MMZ (mmz.py), a dma-heap, another program. `cached`: the CPU sees it through its
# cache, so that each run has to be told what the CPU wrote and is going to read.
class Block:
    """A range of memory, in bytes, that views are cut from."""

    def __init__(
        self,
        virt: int,
        nbytes: int,
        fd: int | None = None,
        phys: int | None = None,
        cached: bool = False,
    ) -> None:
        if not virt or nbytes < 1 or (fd is None and not phys):
            text = "a block needs virt, nbytes and one of fd and phys: {}, {}, {}, {}"
            raise ValueError(text.format(virt, nbytes, fd, phys))
        self.virt = virt
        self.nbytes = nbytes
        self.fd = fd
        self.phys = phys or 0
        self.cached = cached
        self.users: list[str] = []  # the models that work in it, by name, one for each view
        self._mem: Any = None

    @classmethod
    def of(cls, mem: Any) -> Block:
        """The block that rknn_create_mem made. ValueError when its model was unloaded since."""
        _check_there(mem)
        m = mem.contents
        block = cls(m.virt, m.size, m.fd if m.fd >= 0 else None, m.phys)
        block._mem = mem
        return block

    def check(self, nbytes: int, offset: int) -> None:
        """ValueError when `nbytes` at `offset` are not all inside, or the descriptor is none."""
        _check_there(self._mem)
        end = self.nbytes
        if self.fd is not None:
            _check_memory(self.fd)
            with contextlib.suppress(OSError):  # a memory need not tell its size
                end = min(end, os.lseek(self.fd, 0, os.SEEK_END))
        if nbytes < 1 or offset < 0 or offset + nbytes > end:
            text = "{} bytes at {} of {}, which has {}"
            raise ValueError(text.format(nbytes, offset, self, end))

    def sync(self, to_device: bool) -> None:
        """What rknn_mem_sync does, by the kernel's own call, for cached memory with a descriptor.
        OSError where it has none."""
        assert self.fd is not None
        steps = (_WRITE_BEGINS, _WRITE_ENDS) if to_device else (_READ_BEGINS, _READ_ENDS)
        for step in steps:
            fcntl.ioctl(self.fd, _SYNC, struct.pack("=Q", step))

    def __str__(self) -> str:
        return f"physical 0x{self.phys:x}" if self.fd is None else f"fd {self.fd}"


# What runtime.py marks when it gives a memory of its own back.
def _check_there(mem: Any) -> None:
    if getattr(mem, "given_back", False):
        raise ValueError(
            say("this memory went with the model that it was made with.", "keep that model loaded")
        )


# The runtime would take any number. A dma-buf is an anonymous inode, as a memfd is: what has a
# name in a folder is a file.
def _check_memory(fd: int) -> None:
    try:
        found = os.fstat(fd)
    except OSError as e:
        raise ValueError(f"fd {fd} is not a memory: {e}") from e
    named = stat.S_ISREG(found.st_mode) and found.st_nlink > 0
    if named or stat.S_IFMT(found.st_mode) in (stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFDIR):
        raise ValueError(
            say(f"fd {fd} is a file, a pipe or a socket, not a memory.", "give a dma-buf")
        )


class Memory(NamedTuple):
    """A memory of a context: page-rounded bytes (0 of a view), where it starts in its block."""

    mem: Any
    nbytes: int
    start: int
    block: Block | None
