# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The fragmentation trace, on MicroPython: image buffers that come and go among small objects.

run(how, seed): 2,000 steps; `how` is "plain" (bytearray after gc.collect()), "pool" (each size registered) or
"arena" (one block). The demand never exceeds REGISTERED, which fits in the heap: every failure is fragmentation.
"""

import gc

# (bytes, how many at once): 80x60 gray to 320x240 rgb565, 384,000 bytes in all
REGISTERED = ((153600, 1), (76800, 1), (38400, 2), (19200, 2), (9600, 3), (4800, 2))
ARENA = 420000  # what 512 KiB spares beside the small objects
STEPS = 2000
SMALL = 400


class Plain:
    def take(self, kind, nbytes):
        gc.collect()
        return bytearray(nbytes)

    def give(self, kind, buf):
        pass


class Pools:
    def __init__(self):
        from maixmem_pool import BufferPool

        self.pools = [BufferPool(nbytes, count) for nbytes, count in REGISTERED]

    def take(self, kind, nbytes):
        gc.collect()
        return self.pools[kind].acquire()

    def give(self, kind, buf):
        self.pools[kind].release(buf)


class Arenas:
    def __init__(self):
        from maixmem_arena import Arena

        self.arena = Arena(ARENA, 32)

    def take(self, kind, nbytes):
        gc.collect()
        return self.arena.alloc(nbytes)

    def give(self, kind, address):
        self.arena.free(address)


HOW = {"plain": Plain, "pool": Pools, "arena": Arenas}


def run(how, seed):
    """(buffers asked for, how many were refused)."""
    source = HOW[how]()
    state = seed * 7919 % 65521
    live = [[] for _ in REGISTERED]
    small = [None] * SMALL
    asked = refused = 0
    for _ in range(STEPS):
        for _ in range(3):
            state = state * 16807 % 65521
            small[state % SMALL] = bytes(16 + state // SMALL % 200)
        state = state * 16807 % 65521
        kind = state % len(REGISTERED)
        nbytes, count = REGISTERED[kind]
        if len(live[kind]) < count and state // 8 % 10 < 7:
            asked += 1
            try:
                live[kind].append(source.take(kind, nbytes))
            except MemoryError:
                refused += 1
        elif live[kind]:
            source.give(kind, live[kind].pop(state // 64 % len(live[kind])))
    return asked, refused
