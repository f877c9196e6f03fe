# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Samples of a board's memory, for top. It stays on the board: code that is sent for each sample
would be garbage for the next, and every other one was 128 bytes off."""

import gc

import maixmem

w = maixmem.Watch()


def totals():
    """[names of the regions], [their sizes in bytes]."""
    sizes = {r.name: r.total for r in maixmem.regions()}
    sizes["largest"] = sizes.get("heap")  # a K210's largest block is one of its system heap
    return w.names, [sizes.get(n) for n in w.names]


def calm(n):
    if n:
        calm(n - 1)
    gc.collect()


def sample():
    """Bytes free of each region. A collector that scans the stack takes what an earlier call left
    there for a reference, and deeper calls write over it: what it keeps so differs with the depth,
    so the most that was free of several looks counts."""
    most = [0] * len(w.names)
    for depth in (1, 2, 3, 5):
        calm(depth)  # what the visit itself left is collected
        w.sample()
        for i in range(len(most)):
            most[i] = max(most[i], w.free[i])
    return most
