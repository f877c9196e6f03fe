# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The fragmentation trace, on MicroPython: image buffers that come and go among small objects.

The rules. Their numbers were chosen on the counts of the plain allocation, not on what a pool or
an arena makes of it:
* A step replaces two of 200 small objects (16 to 256 bytes, any of them), then asks for a buffer
  or gives one back, evenly; with none live it asks. Sizes and the one to give back are drawn
  evenly.
* gc.collect() before each buffer. Nothing limits the demand: the heap of 512 KiB runs full.
* A refusal with 1.25 times the request free, in the heap or in the arena, is fragmentation; else
  out of memory.
* What is set aside at the start ("arena": one block; "pool": the buffers registered) is all that
  is free then, less what the small objects take at most.
* The pools register one buffer of each size, largest first, again and again as long as one fits. A
  request is within what was registered while fewer of its size are live: refused then, it counts
  as fragmentation.
"""

import gc

SIZES = (153600, 76800, 38400, 19200, 9600, 4800)  # 320x240, 160x120, 80x60; rgb565 and gray
STEPS = 2000
SMALL = 200
SMALL_BYTES = (16, 256)
HEADER = 32  # of a bytearray on a 64-bit VM


def spare():
    """Bytes to set aside at the start."""
    gc.collect()
    return gc.mem_free() - SMALL * (SMALL_BYTES[1] + HEADER)


class Plain:
    def take(self, nbytes):
        return bytearray(nbytes)

    def give(self, buf):
        pass

    def in_pieces(self, nbytes):
        return gc.mem_free() * 4 >= nbytes * 5


class Pools:
    def __init__(self):
        from maixmem_pool import BufferPool

        room = spare()
        counts = [0] * len(SIZES)
        while room >= SIZES[-1]:
            for i in range(len(SIZES)):
                if SIZES[i] <= room:
                    counts[i] += 1
                    room -= SIZES[i]
        self.pools = {n: BufferPool(n, count) for n, count in zip(SIZES, counts)}
        self.left = dict(zip(SIZES, counts))  # counted beside the pools, to judge them by

    def take(self, nbytes):
        buf = self.pools[nbytes].acquire()
        self.left[nbytes] -= 1
        return buf

    def give(self, buf):
        self.pools[len(buf)].release(buf)
        self.left[len(buf)] += 1

    def in_pieces(self, nbytes):
        return self.left[nbytes] > 0


class Arenas:
    def __init__(self):
        from maixmem_arena import Arena

        self.arena = Arena(spare(), 32)

    def take(self, nbytes):
        return self.arena.alloc(nbytes)

    def give(self, address):
        self.arena.free(address)

    def in_pieces(self, nbytes):
        return self.arena.available * 4 >= nbytes * 5


HOW = {"plain": Plain, "pool": Pools, "arena": Arenas}


class Draw:
    """Even random numbers, the same on every interpreter."""

    def __init__(self, seed):
        self.state = seed * 2654435761 & 0xFFFFFFFF

    def below(self, n):
        self.state = (self.state * 1664525 + 1013904223) & 0xFFFFFFFF
        return (self.state >> 16) * n >> 16  # its low bits repeat soon


def replace_small(small, draw):
    """1 if there was no room for it."""
    least, most = SMALL_BYTES
    try:
        small[draw.below(len(small))] = bytearray(least + draw.below(most - least + 1))
    except MemoryError:
        return 1
    return 0


def run(how, seed):
    """[buffers served, refused in pieces, refused out of memory, small objects refused]."""
    return trace(HOW[how](), Draw(seed))


def trace(source, draw):
    live = []
    small = [None] * SMALL
    served = in_pieces = out = small_refused = 0
    for _ in range(STEPS):
        small_refused += replace_small(small, draw) + replace_small(small, draw)
        if live and draw.below(2):
            source.give(live.pop(draw.below(len(live))))
            continue
        nbytes = SIZES[draw.below(len(SIZES))]
        gc.collect()
        try:
            live.append(source.take(nbytes))
            served += 1
        except MemoryError:
            if source.in_pieces(nbytes):
                in_pieces += 1
            else:
                out += 1
    return [served, in_pieces, out, small_refused]
