# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The memory of the stand-in NPU: a ledger to the byte, and blocks that a program can write to."""

import ctypes
import mmap
import tempfile

PAGE = 4096


def page_round(nbytes):
    """What the driver takes for a request: whole pages."""
    return (nbytes + PAGE - 1) // PAGE * PAGE


# One piece of NPU memory. `nbytes` is the request, `taken` what the ledger was charged, `kind` who
# asked ("file", "regs", "blob", "internal", "weights", "outside" by the runtime; "mem" by
# rknn_create_mem; "external" by another program's heap). `busy` says that the NPU works in it now.
class Piece:
    def __init__(self, kind, nbytes):
        self.kind = kind
        self.nbytes = nbytes
        self.taken = page_round(nbytes)
        self.freed = False
        self.busy = False

    def close(self):
        """What ends with the piece."""


# A piece of the runtime's own: a shared mapping, as the real one's are.
class Mapping(Piece):
    def __init__(self, kind, nbytes):
        Piece.__init__(self, kind, nbytes)
        self._memory = mmap.mmap(-1, self.taken)
        self.virt = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))

    def close(self):
        """The mapping ends with the piece."""
        self._memory.close()


# A piece that the CPU sees too: its memory, and a real file descriptor of the same size (so that
# os.lseek says of it what it says of a dma-buf). Freed memory stays mapped, so a late write is
# found by a test instead of killing it.
class Block(Piece):
    def __init__(self, kind, nbytes, phys):
        Piece.__init__(self, kind, nbytes)
        self.memory = (ctypes.c_char * self.taken)()
        self.virt = ctypes.addressof(self.memory)
        self.phys = phys
        self._file = tempfile.TemporaryFile()
        self._file.truncate(self.taken)
        self.fd = self._file.fileno()

    def close(self):
        """The descriptor ends with the piece."""
        self._file.close()


# Contract. `live` and `peak` are page-rounded bytes; `pieces` holds what is taken now. take() and
# block() return None when `capacity` does not suffice: nothing else of the ledger changes then.
class Npu:
    def __init__(self, capacity):
        self.capacity = capacity
        self.live = 0
        self.peak = 0
        self.pieces = []
        self._phys = 0x10000000

    def take(self, kind, nbytes):
        """A piece of the runtime's own, or None."""
        return self._charge(Mapping(kind, nbytes)) if self._fits(nbytes) else None

    def block(self, kind, nbytes):
        """A piece that the CPU sees too, or None."""
        if not self._fits(nbytes):
            return None
        block = Block(kind, nbytes, self._phys)
        self._phys += block.taken + PAGE
        return self._charge(block)

    def free(self, piece):
        """Gives a piece back, once."""
        if piece.freed:
            return
        piece.freed = True
        self.pieces.remove(piece)
        self.live -= piece.taken
        piece.close()

    def by_kind(self):
        """{kind: live bytes}."""
        sums = {}
        for piece in self.pieces:
            sums[piece.kind] = sums.get(piece.kind, 0) + piece.taken
        return sums

    def find(self, test):
        """The first live block for which `test` is true, or None."""
        for piece in self.pieces:
            if isinstance(piece, Block) and test(piece):
                return piece
        return None

    def _fits(self, nbytes):
        return nbytes > 0 and self.live + page_round(nbytes) <= self.capacity

    def _charge(self, piece):
        self.pieces.append(piece)
        self.live += piece.taken
        self.peak = max(self.peak, self.live)
        return piece
