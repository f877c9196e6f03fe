# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Holds what told_numbers.py printed against micropython.mem_info()."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SCRIPT = Path(__file__).with_name("told_numbers.py")
_INFO = re.compile(r"GC: total: (\d+), used: (\d+), free: (\d+).*?max free sz: (\d+)", re.DOTALL)
_FINDER = 16  # blocks: its list, [None] and the list of the try before


def check(output: str) -> tuple[int, ...]:
    """(total, used, free, largest) when mem_info says so too, AssertionError else: the first three
    to the byte.

    The order of the looks: a collection, used, free; then what finds the largest block, which
    begins and ends with a collection. What finds it lies in the heap itself, a few blocks at the
    end: where these lie in the largest block, what was had is between the two looks.
    """
    looks = [tuple(map(int, found)) for found in _INFO.findall(output)]
    *told, exact, word = ast.literal_eval(output.split("@TOLD", 1)[1].strip().splitlines()[0])
    assert exact and len(looks) > 5, output
    total, used, free, _ = looks[1]
    assert told[:3] == [total, used, looks[2][2]], (told, looks)
    before, after = (look[3] * 4 * word for look in (looks[3], looks[-1]))
    assert after <= told[3] <= before <= after + _FINDER * 4 * word, (told, looks)
    return tuple(told)
