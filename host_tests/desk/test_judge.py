# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The verdict on a record: it fits, it does not, or the run cannot tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from maixmem_cli.plan import judge
from maixmem_cli.record import record
from maixmem_cli.record.record import (
    GC,
    HEAP,
    Board,
    End,
    Growth,
    Least,
    Level,
    Line,
    Missing,
    Place,
    Record,
    Refused,
    Step,
)

_AT = (Place("main.py", 3, "<module>", "net = kpu.load(0x300000)"),)
_SOURCE = "import sensor\nimport KPU as kpu\nnet = kpu.load(0x300000)\nimg = sensor.snapshot()\n"
_RAN = Record(
    "main.py",
    Board(record.IMAGE, "maixpy.bin"),
    End(record.LIMIT),
    rounds=50,
    asked=50,
    steps=(Step(record.LOAD, _AT),),
    lines=(Line(HEAP, _AT[0], 400000, 400000, 400000, 4),),
    least=(
        Least(GC, Level(500000, 100000, collected=True), _AT),
        Least(HEAP, Level(3000000, 200000, 150000), _AT),
    ),
)
_GREW = (Growth(GC, _AT[0], 1000, 400),)


def _ended(kind: str, **more: object) -> Record:
    return replace(_RAN, end=End(kind, _AT, **more))  # type: ignore[arg-type]


def test_what_ran_fits_with_its_numbers() -> None:
    found = judge.judge(_RAN, _SOURCE)
    assert (found.kind, found.status) == ("FITS", 0)
    assert "maixpy.bin, the firmware itself, 50 rounds" in found.lines[0]
    assert found.lines[1].startswith("GC heap: at the least 97.6 KiB left, main.py:3: net = kpu.")
    assert len(found.lines) == 3, "nothing more is to be said"


def test_a_stand_in_is_no_firmware() -> None:
    found = judge.judge(replace(_RAN, board=Board(record.STAND_IN, "full", build="full")))
    assert "the stand-in with the memory of full, which is no firmware" in found.lines[0]


def test_a_load_that_was_not_reached_is_named() -> None:
    source = _SOURCE + "if False:\n    kpu.load(0x600000)\n"
    (last,) = judge.judge(_RAN, source).lines[3:]
    assert last == "not reached, so nothing is said of it: main.py:6: kpu.load(0x600000)"


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (End(record.HANGS, _AT, refused=Refused(HEAP, 262274, Level(9, 8, 7), _AT)), 3),
        (End(record.NO_START, words=("the board does not start again",)), 3),
        (End(record.RAISED, _AT, "MemoryError: x", refused=Refused(GC, 1000)), 1),
        (End(record.DONE, _AT, "MemoryError: x", caught=True, refused=Refused(GC, None)), 1),
    ],
)
def test_what_dies_for_want_of_memory_does_not_fit(end: End, status: int) -> None:
    found = judge.judge(replace(_RAN, end=end), _SOURCE)
    assert (found.kind, found.status) == ("DOES NOT FIT", status)


def test_who_has_the_rest_is_said() -> None:
    refused = Refused(HEAP, 262274, Level(3000000, 200000, 150000), _AT)
    said = "\n".join(judge.judge(_ended(record.HANGS, refused=refused)).lines)
    assert "the board hangs at main.py:3: net = kpu.load(0x300000) in round 51" in said
    assert "requested 256.1 KiB of system heap, free were 195.3 KiB, at most 146.4 KiB" in said
    assert "  390.6 KiB have main.py:3: net = kpu.load(0x300000)" in said


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (End(record.RAISED, _AT, "x", missing=Missing(record.MODEL)), "--flash MODEL@ADDRESS"),
        (End(record.RAISED, _AT, "x", missing=Missing(record.CARD)), "--sd FOLDER"),
        (End(record.RAISED, _AT, "x", missing=Missing(record.MODULE, "abc")), "(abc)"),
        (End(record.RAISED, _AT, "NameError: x"), "not for want of memory"),
        (End(record.DONE, _AT, "NameError: x", caught=True), "not for want of memory"),
        (End(record.STUCK, _AT), "waits for what does not come"),
        (End(record.HANGS, _AT, missing=Missing(record.DEVICE)), "a device that is not in"),
        (End(record.INTERRUPTED), "ended early"),
    ],
)
def test_what_was_not_reached_is_never_said_to_fit(end: End, said: str) -> None:
    found = judge.judge(replace(_RAN, end=end), _SOURCE)
    assert (found.kind, found.status) == ("CANNOT TELL", 4)
    assert said in found.lines[0] and "not reached" in found.lines[-1]


def test_no_picture_in_the_time_that_there_is() -> None:
    none = replace(_RAN, rounds=0, seconds=20.0)
    assert judge.judge(none, _SOURCE).status == 4
    assert judge.judge(none, "import time\n").status == 0, "it takes none"


def test_growth_is_named_with_the_round_that_it_ends() -> None:
    found = judge.judge(replace(_RAN, growth=_GREW), _SOURCE)
    assert found.status == 1 and "keeps 1000 B more each round" in found.lines[0]
    assert "is full in round 400" in found.lines[0]
    done = judge.judge(replace(_RAN, growth=_GREW, end=End(record.DONE)), _SOURCE)
    assert done.status == 0 and "kept 1000 B more each round up to the end" in done.lines[3]
