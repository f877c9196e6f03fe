# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The blocks of a GC heap: two bits of its allocation table each (py/gc.c)."""

from __future__ import annotations

from itertools import groupby

FREE, HEAD, TAIL, MARKED = range(4)  #: of a block


def states(packed: bytes) -> bytes:
    """One byte a block, of two bits a block."""
    out = bytearray(4 * len(packed))
    for at, of in enumerate(_UNPACK):
        out[at::4] = packed.translate(of)
    return bytes(out)


def packed(states: bytes) -> bytes:
    """Two bits a block, of one byte a block."""
    whole = states.ljust(-len(states) // 4 * -4, b"\0")
    four = zip(whole[::4], whole[1::4], whole[2::4], whole[3::4])
    return bytes(a | b << 2 | c << 4 | d << 6 for a, b, c, d in four)


#: of each of the four blocks of a byte, the state by the byte
_UNPACK = [bytes(b >> shift & 3 for b in range(256)) for shift in (0, 2, 4, 6)]


def sizes(states: bytes, pool: int, block: int) -> dict[int, int]:
    """{address: bytes} of what begins at a head in the table of a pool."""
    out: dict[int, int] = {}
    at, head = pool, 0
    for state, group in groupby(states):
        n = sum(1 for _ in group)
        if state in (HEAD, MARKED):
            head = at + (n - 1) * block
            out.update((a, block) for a in range(at, head + block, block))
        elif state == TAIL and head:
            out[head] += n * block
        if state == FREE:
            head = 0
        at += n * block
    return out
