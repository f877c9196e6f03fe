# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""OpenMV's unified memory allocator: pools with attributes, and its counters (common/umalloc.c of
openmv/openmv, 2026). What the C of the firmware calls; scripts see the module umalloc."""

from faults import Faults
from omv_tlsf import Tlsf, align, control_size

FAST, ITCM, DTCM, TRANSIENT = 1, 2, 4, 1 << 6
MAYBE, STRICT, CACHE, PERSIST = 1 << 8, 1 << 9, 1 << 10, 1 << 11
_ATTRIBUTES = 0xFF
_LINE = 32
_MOST = 4

faults = Faults()


class Pool:
    """A piece of memory with the counters that umalloc keeps of it."""

    def __init__(self, base, nbytes, flags, word):
        self.base = base
        self.nbytes = nbytes
        self.flags = flags
        self.word = word
        self.size = max(0, nbytes - control_size(word) - 2 * word)
        self.reset()

    def reset(self):
        self.tlsf = Tlsf(self.base, self.nbytes, self.word)
        self.free = self.size
        self.persist = self.peak = 0

    def count(self, block, flags=0):
        """Puts a new block, or one that was resized, in the books."""
        self.free -= block.size
        if flags & PERSIST:
            block.persist = True
            self.persist += block.size
        self.peak = max(self.peak, self.size - self.free)


# Contract. The pools of a board; a block belongs to the caller until free() or collect().
# MemoryError "Out of memory" for want of room, None instead with MAYBE.
class Uma:
    def __init__(self, word=4):
        self.word = word
        self.pools = []

    def add(self, nbytes, flags=0, base=None):
        if len(self.pools) >= _MOST:
            raise MemoryError("Out of memory")
        if base is None:
            base = 0x20000000 + 0x10000000 * len(self.pools)
        self.pools.append(Pool(base, nbytes, flags, self.word))

    def find(self, size, flags):
        """The pool for a request, or None."""
        wanted = flags & _ATTRIBUTES  # the flag of a persistent block is not among them
        partial = fallback = None
        for pool in self.pools:
            if pool.tlsf.largest() < size:
                continue
            if wanted == pool.flags:
                return pool
            if not flags & STRICT:
                if not partial and pool.flags & wanted:
                    partial = pool
                if not fallback and not pool.flags:
                    fallback = pool
        return partial or fallback

    def owner(self, block):
        for pool in self.pools:
            if pool.base <= block.at < pool.base + pool.nbytes:
                return pool
        raise MemoryError("Out of memory")

    def malloc(self, size, flags=0):
        if flags & CACHE:
            size = align(size, _LINE)
        return self._allocate(size, _LINE if flags & CACHE else 0, flags)

    def malign(self, size, to, flags=0):
        return self._allocate(align(size, min(to, 4)), to, flags)

    def _allocate(self, size, to, flags):
        pool, block = self._place(size, to, flags)
        if block is not None:
            pool.count(block, flags)
        return block

    def _place(self, size, to, flags):
        """(pool, block) that is in no books yet."""
        if size == 0:
            return None, None
        faults.point("uma")
        pool = self.find(size, flags)
        block = None
        if pool:
            block = pool.tlsf.memalign(to, size) if to else pool.tlsf.malloc(size)
        if block is None and not flags & MAYBE:
            raise MemoryError("Out of memory")
        return pool, block

    def realloc(self, block, size, flags=0):
        if flags & PERSIST or block.persist:
            raise RuntimeError("can't realloc a persistent block")
        if size == 0:
            self.free(block)
            return None
        if flags & CACHE:
            size = align(size, _LINE)
        pool = self.owner(block)
        if pool.tlsf.can_resize(block, size):
            pool.free += block.size
            pool.tlsf.resize(block, size)
            pool.count(block)
            return block
        pool, new = self._place(size, _LINE if flags & CACHE else 0, flags)
        if new is not None:
            self.free(block)
            pool.count(new)
        return new

    def free(self, block):
        pool = self.owner(block)
        if block.persist:
            pool.persist -= block.size
        pool.free += block.size
        pool.tlsf.free(block)

    def collect(self):
        for pool in self.pools:
            pool.free += pool.tlsf.collect()

    def transient_acquire(self):
        for pool in self.pools:
            if pool.flags & TRANSIENT and pool.free != pool.size:
                raise MemoryError("Transient pool in use")

    def transient_release(self):
        for pool in self.pools:
            if pool.flags & TRANSIENT:
                pool.reset()

    def stats(self, index=-1):
        """(blocks used, free, persistent, bytes used, free, persistent, peak) of a pool, or of
        all."""
        chosen = self.pools[index : index + 1] if 0 <= index < len(self.pools) else self.pools
        blocks = [0, 0, 0]
        for pool in chosen:
            if not pool.flags & TRANSIENT:
                for block in pool.tlsf.blocks():
                    blocks[1 if block.free else 2 if block.persist else 0] += 1
        free = sum([pool.free for pool in chosen])
        persist = sum([pool.persist for pool in chosen])
        used = sum([pool.size for pool in chosen]) - free
        peak = chosen[0].peak if len(chosen) == 1 else 0
        return (*blocks, used, free, persist, peak)
