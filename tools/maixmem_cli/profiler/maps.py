# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The system heap of a K210 at one moment as text and as a picture, both heaps as plain data."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from maixmem_cli.heap.heaps import FREE, GcHeap, SystemHeap
from maixmem_cli.profiler import draw

_BIG = 16  # chunks that are listed


def text(system: SystemHeap, pool: int) -> list[str]:
    """The system heap: chunks by size, holes, the top. `pool`: an address in the GC heap."""
    used = sum(c.size for c in system.used)
    holes = sum(c.size for c in system.holes)
    tops = f"{holes:,} in {len(system.holes)} holes, top {system.top_size:,}"
    total = f"sum {used + holes + system.top_size:,} of {system.end - system.base:,}"
    out = [
        f"system heap {system.base:#x}..{system.end:#x}:",
        f"{used:,} bytes in {len(system.used)} chunks, {tops}; {total}",
        f"heap_free() = {system.heap_free}; largest block {system.largest:,}",
    ]
    largest = sorted(system.chunks, key=lambda c: -c.size)[:_BIG]
    for c in sorted(largest, key=lambda c: c.address):
        owner = "the GC heap" if c.used and c.address <= pool < c.address + c.size else ""
        out.append(
            f"  {c.address:#x} {c.size:>9,} {'used' if c.used else 'hole'} {owner}".rstrip()
        )
    left = len(system.chunks) - len(largest)
    return out + ([f"  and {left} smaller ones"] if left else [])


def as_json(system: SystemHeap, gc: GcHeap) -> dict[str, Any]:
    """Plain data; `gc.runs` are (state, blocks) in order of address."""
    chunks = [{"address": c.address, "size": c.size, "used": c.used} for c in system.chunks]
    runs = [(s != FREE, sum(1 for _ in g)) for s, g in groupby(gc.states, lambda s: s != FREE)]
    return {
        "heap": {
            "base": system.base,
            "end": system.end,
            "top": system.top_size,
            "heap_free": system.heap_free,
            "largest": system.largest,
            "chunks": chunks,
        },
        "gc": {
            "pool": gc.pool,
            "total": gc.total,
            "used": gc.used,
            "free": gc.free,
            "largest": gc.largest,
            "runs": [{"used": used, "blocks": n} for used, n in runs],
        },
    }


def svg(system: SystemHeap, pool: int) -> str:
    """The system heap with its chunks."""
    pieces = []
    for i, c in enumerate(system.used):
        inside = c.address <= pool < c.address + c.size
        colour = draw.COLOURS[0] if inside else (draw.OTHER, draw.EARLIER)[i % 2]
        title = f"{'GC heap, ' if inside else ''}{c.size} bytes at {c.address:#x}"
        pieces.append(draw.Piece(c.address - 16 - system.base, c.size, colour, title))
    names = [
        (draw.COLOURS[0], "the GC heap"),
        (draw.OTHER, "chunks in use"),
        (draw.HOLE, "white: free"),
    ]
    total = system.end - system.base + system.heap_free
    return draw.heap_map(pieces, total, names, "System heap by address")
