# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Holds what told_numbers.py printed against micropython.mem_info(), to the byte."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SCRIPT = Path(__file__).with_name("told_numbers.py")
_INFO = re.compile(r"GC: total: (\d+), used: (\d+), free: (\d+).*?max free sz: (\d+)", re.DOTALL)


def check(output: str) -> tuple[int, ...]:
    """(total, used, free, largest) when all four are those of mem_info; AssertionError else.

    The order of the looks: a collection, used, free; then what finds the largest block, which
    ends with a collection.
    """
    looks = [tuple(map(int, found)) for found in _INFO.findall(output)]
    *told, exact, word = ast.literal_eval(output.split("@TOLD", 1)[1].strip().splitlines()[0])
    assert exact and len(looks) > 5, output
    total, used, free, _ = looks[1]
    assert told == [total, used, looks[2][2], looks[-1][3] * 4 * word], (told, looks)
    return tuple(told)
