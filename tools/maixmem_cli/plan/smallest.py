# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The smallest GC heap with which a script runs as well, found by runs: what it had in use at
most, with a margin, and more where that is too little."""

from __future__ import annotations

from pathlib import Path

from maixmem_k210_gc import MIN_GC_HEAP, gc_heap_of

from maixmem_cli.plan.fit import MARGIN
from maixmem_cli.profiler import growth
from maixmem_cli.record.record import GC, Record
from maixmem_cli.runs import recorded

_STEP = 16 << 10  # people write the number into a program, and change that
_TRIES = 4
_BEYOND = 5  # pictures more than those in which most was in use
_SETS_IT = ("gc_heap_size", "set_gc_heap")  # a script that does restarts with its own


def gc_heap(found: Record, script: Path, source: str, place: recorded.Place) -> int | None:
    """Its bytes; None where none of the smaller ones that were tried runs. `found`: a run that
    fits."""
    least, now = found.least_of(GC), found.board.gc_heap
    asked = place.options.frames
    if asked and (found.asked or 0) > asked:  # it was run on, and each try would take as long
        return None
    if least is None or any(name in source for name in _SETS_IT):
        return None
    used = gc_heap_of(least.level.total - least.level.free + MARGIN["gc"])
    first = max(MIN_GC_HEAP, -(-used // _STEP) * _STEP)
    frames = max(growth.LEAST, least.pictures or 0) + _BEYOND
    for size in range(first, now, _STEP)[:_TRIES]:
        pictures = min(frames, found.asked or frames)
        if recorded.again(script, place, size, pictures, detail=found.packs).ends_well:
            return size
    return None
