# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which model a script wants at which address: plan/addresses.py."""

from __future__ import annotations

import pytest
from maixmem_cli.plan import addresses

_SIZE = 700 << 10


@pytest.mark.parametrize(
    ("script", "models", "at", "unsure"),
    [
        ("task = kpu.load(0x600000)", {"head": 9}, {"head": 0x600000}, 0),
        (
            "classes = kpu.load(0x300000)\nfaces = kpu.load(0x600000)",
            {"faces.kmodel": 9, "classes.kmodel": 9},
            {"faces.kmodel": 0x600000, "classes.kmodel": 0x300000},
            0,
        ),
        (
            "face_det = kpu.load(0x300000)\nface_attr = kpu.load(0x500000)",
            {"face_attr.kmodel": 9, "face_detect.kmodel": 9},
            {"face_attr.kmodel": 0x500000, "face_detect.kmodel": 0x300000},
            0,
        ),
        (  # the larger one would reach into the other
            "for at in (0x300000, 0x400000): kpu.load(at)",
            {"a": 2 * _SIZE, "b": _SIZE},
            {"b": 0x300000, "a": 0x400000},
            0,
        ),
        (
            "for at in (0x300000, 0x600000): kpu.load(at)",
            {"a": _SIZE, "b": _SIZE},
            {"a": 0x300000, "b": 0x600000},
            2,
        ),
        ("utils.gc_heap_size(0x80000)\nb = bytearray(0x100000)", {"a": 9}, {}, 0),
        ("kpu.load(0x300000", {"a": 9}, {}, 0),
        ("kpu.load('/sd/a.kmodel')", {"a": 9}, {}, 0),
    ],
)
def test_a_script_says_where(
    script: str, models: dict[str, int], at: dict[str, int], unsure: int
) -> None:
    found = addresses.placed(script, models)
    assert (found.at, len(found.unsure)) == (at, unsure)


def test_an_address_that_is_taken_is_not_given() -> None:
    script = "a = kpu.load(0x300000)\nb = kpu.load(0x500000)"
    assert addresses.placed(script, {"x": 9}, [0x300000]).at == {"x": 0x500000}
