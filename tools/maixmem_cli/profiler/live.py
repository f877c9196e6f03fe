# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which of the board's looks at what is in use are read: it takes more of them than are needed.

The board marks the GC heap from outside, between two instructions, from the roots that the
firmware's own collector uses (tools/k210board/live.c): as blocks are taken, and where a loop of
the bytecode begins anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from maixmem_cli.emulator.readers.tracer import Event

_LOOPS = 6  # of a script that are judged, those that run longest
_OF_A_LOOP = 40
_OF_BLOCKS = 60  # looks that come as blocks are taken
_ROUNDS = 4  # of a loop that is worth a look


def chosen(looks: Sequence[Event]) -> set[int]:
    """The times of those that are read: the fullest, some of each loop, some over the run."""
    if not looks:
        return set()
    of: defaultdict[int, list[Event]] = defaultdict(list)
    for look in looks:
        of[look.asked].append(look)
    loops = [k for jump, k in of.items() if jump and k[-1].end > _ROUNDS]
    loops.sort(key=lambda k: k[0].time - k[-1].time)
    some = [max(looks, key=lambda k: k.a), *_evenly(of[0], _OF_BLOCKS)]
    for loop in loops[:_LOOPS]:
        some += _evenly(loop, _OF_A_LOOP)
    return {k.time for k in some}


def _evenly(looks: list[Event], most: int) -> list[Event]:
    """The first, the last, and one of each part of the rounds between."""
    if len(looks) <= most:
        return looks
    first, last = looks[0].end, looks[-1].end
    part = max(1, (last - first) / (most - 1))
    by_part = {int((k.end - first) / part): k for k in looks}
    return [looks[0], *by_part.values()]
