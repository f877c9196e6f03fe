# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Changes of a GC heap that were tried: the script is run again with it, on the same board."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from maixmem_cli.firmware.builds import Firmware
from maixmem_cli.plan import judge, of_record
from maixmem_cli.plan.changes import GC_HEAP
from maixmem_cli.record.record import Record

_TRIES = 4


@dataclass(frozen=True)
class Cure:
    """Changes in words; `ran`: with them the script was run, and fits."""

    texts: tuple[str, ...] = ()
    ran: bool = False
    gc_heap: int | None = None  #: where that is all


def cure(found: Record, build: Firmware, again: Callable[[int], Record], only: str = "") -> Cure:
    """The cheapest changes by the plan (`only`: of one kind). Where that is the GC heap alone it
    is proved: again(size) runs the script with it; what then fails is planned anew. No text where
    none is found."""
    record = found
    for _ in range(_TRIES):
        changes = of_record.cures(record, build, only)
        texts = tuple(c.text for c in changes)
        if [c.kind for c in changes] != [GC_HEAP]:
            return Cure(texts if record is found else ())
        size = changes[0].apply(of_record.project(record, build)).gc_heap
        before, record = record, again(size)
        if judge.judge(record).fits:
            return Cure(texts, ran=True, gc_heap=size)
        if record.pictures > before.pictures:  # it keeps more with each round
            return Cure()
    return Cure()
