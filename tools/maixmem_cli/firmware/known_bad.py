# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Builds of MaixPy that are known to be bad, by the version that they say."""

from __future__ import annotations

import re

from maixmem_text import say

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)[-_](\d+)")
_Version = tuple[int, ...]
#: (first bad build, last that was seen bad, what goes wrong, where that is from)
BAD: tuple[tuple[_Version, _Version, str, str], ...] = (
    (
        (0, 5, 0, 46),
        (0, 5, 0, 98),
        "kpu.load() of V4 models and of yolo20 fails, freezes or dumps core",
        "MaixPy-v1 #242, #248, #275",
    ),
    (
        (0, 0, 0, 0),
        (0, 5, 1, 47),
        "freeing a YOLO model damages the heap: the second switch freezes",
        "MaixPy-v1_scripts #70",
    ),
    (
        (0, 4, 0, 47),
        (0, 5, 0, 9),
        "each load of a model leaves 5 to 14 KB of the system heap behind when it is freed",
        "run with two V3 models",
    ),
)


def faults(version: str) -> list[tuple[str, str]]:
    """(what is wrong, the step) for each known fault of a build, by a text with its version in
    it, such as "v0.5.0-46-g06e16a3"."""
    found = _VERSION.search(version)
    if not found:
        return []
    number = tuple(map(int, found.groups()))
    return [
        (f"known bad build {found[0]}: {what} ({source}).", "v0.6.2-84")
        for first, last, what, source in BAD
        if first <= number <= last
    ]


def known_bad(version: str) -> list[str]:
    """faults(), a sentence each."""
    return [say(*fault) for fault in faults(version)]
