# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which failures a test injects: every fault point, in every way where there is time for it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from emulated import THOROUGH


def failures(points: int, ways: Sequence[Any]) -> Iterator[tuple[int, Any, bool]]:
    """(fault point from 1, way, for ever), for `points` fault points.

    `dev.py test --emulator` fails each point in each way, once and for ever. Else each point fails
    in one way once and in another for ever, and the ways take turns from point to point.
    """
    for point in range(1, points + 1):
        if THOROUGH:
            for way, forever in itertools.product(ways, (False, True)):
                yield point, way, forever
        else:
            yield point, ways[point % len(ways)], False
            yield point, ways[(point // len(ways) + point + 1) % len(ways)], True
