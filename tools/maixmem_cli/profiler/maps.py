# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Both heaps at one moment: as text, as plain data, as a picture."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from maixmem_report import kib

from maixmem_cli.heap.heaps import BLOCK, FREE, HEAD, GcHeap, SystemHeap
from maixmem_cli.profiler import draw

_GC_COLUMNS = 64  # characters of a line of the GC map
_BIG = 16  # chunks that are listed


def text(system: SystemHeap, gc: GcHeap) -> list[str]:
    """Chunks by size, holes, top; one character of the GC map is some blocks: full '#', part '+',
    free '.'."""
    used = sum(c.size for c in system.used)
    holes = sum(c.size for c in system.holes)
    tops = f"{holes} in {len(system.holes)} holes, top {system.top_size}"
    total = f"sum {used + holes + system.top_size} of {system.end - system.base}"
    out = [
        f"system heap {system.base:#x}..{system.end:#x}:",
        f"{used} bytes in {len(system.used)} chunks, {tops}; {total}",
        f"heap_free() = {system.heap_free}; largest block {system.largest}",
    ]
    largest = sorted(system.chunks, key=lambda c: -c.size)[:_BIG]
    for c in sorted(largest, key=lambda c: c.address):
        owner = "the GC heap" if c.used and c.address <= gc.pool < c.address + c.size else ""
        out.append(f"  {c.address:#x} {c.size:>9} {'used' if c.used else 'hole'} {owner}".rstrip())
    left = len(system.chunks) - len(largest)
    out += [f"  and {left} smaller ones"] if left else []
    objects = gc.states.count(HEAD)
    out.append(
        f"GC heap {gc.pool:#x}: used {gc.used}, free {gc.free}, largest {gc.largest}, "
        f"{objects} objects"
    )
    return out + _gc_lines(gc)


def _gc_lines(gc: GcHeap) -> list[str]:
    each = max(1, len(gc.states) // (_GC_COLUMNS * 16))
    cells = []
    for i in range(0, len(gc.states), each):
        free = gc.states[i : i + each].count(FREE)
        cells.append("." if free == each else "+" if free else "#")
    lines = ["".join(cells[i : i + _GC_COLUMNS]) for i in range(0, len(cells), _GC_COLUMNS)]
    return [f"  {line}" for line in lines] + [f"  one character is {kib(each * BLOCK)}"]


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


def svg(system: SystemHeap, gc: GcHeap) -> str:
    """The system heap with its chunks, the GC heap below it."""
    pieces = []
    for i, c in enumerate(system.used):
        inside = c.address <= gc.pool < c.address + c.size
        colour = draw.COLOURS[0] if inside else (draw.OTHER, draw.EARLIER)[i % 2]
        title = f"{'GC heap, ' if inside else ''}{c.size} bytes at {c.address:#x}"
        pieces.append(draw.Piece(c.address - 16 - system.base, c.size, colour, title))
    names = [
        (draw.COLOURS[0], "the GC heap"),
        (draw.OTHER, "chunks in use"),
        (draw.HOLE, "white: free"),
    ]
    total = system.end - system.base + system.heap_free
    owners = [(draw.HOLE, "") if s == FREE else (draw.COLOURS[0], "in use") for s in gc.states]
    return draw.above(
        draw.heap_map(pieces, total, names, "System heap by address"),
        draw.gc_map(owners, names[:1], "GC heap"),
    )
