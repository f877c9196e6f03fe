# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`import maixmem_auto` makes no script worse: those of $MAIXMEM_SCRIPTS, a folder as
never_worse.py wants it; and how that tool judges."""

from __future__ import annotations

import inspect
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import never_worse
import pytest
from emulated import each_image, needs_cc, only_thorough
from maixmem_cli.emulator.session import DONE, HANGS, RAISED
from never_worse import End, verdict

_SCRIPTS = os.environ.get("MAIXMEM_SCRIPTS", "")
_RAN = End(DONE, "", ("@ 1", "@ 2"), "a picture")
_HANGS = End(HANGS, "", ("@ 1",), "")
_RAISED = End(RAISED, "ValueError: no", ("@ 1",), "")
_CAUGHT = replace(_RAN, error="ValueError: no")


@pytest.mark.parametrize(
    ("bare", "auto", "said"),
    [
        (_RAN, _RAN, "as bare"),
        (_RAN, replace(_RAN, picture="another"), "WORSE: another picture"),
        (_RAN, replace(_RAN, results=("@ 1", "@ 3")), "WORSE: other results"),
        (_RAN, _RAISED, "WORSE: ends earlier"),
        (_RAN, _CAUGHT, "WORSE: ends earlier"),
        (_RAN, _HANGS, "WORSE: hangs"),
        (_RAISED, _HANGS, "WORSE: hangs"),
        (_RAISED, replace(_RAISED, results=()), "WORSE: ends earlier"),
        (_RAISED, replace(_RAISED, error="NoRoom: heap"), "other words"),
        (_CAUGHT, replace(_CAUGHT, picture="another"), "as bare"),
        (_RAISED, _RAN, "better"),
        (_HANGS, _RAISED, "better"),
        (_HANGS, _HANGS, "hangs as bare"),
    ],
)
def test_the_verdict(bare: End, auto: End, said: str) -> None:
    assert verdict(bare, auto) == said


def test_what_differs_between_two_bare_runs_does_not_count() -> None:
    later = replace(_RAN, results=("@ 1", "@ 7"), picture="a clock")
    varies = ", varies by itself"
    for auto, again, said in (
        (replace(_RAN, results=("@ 1", "@ 9"), picture="another"), later, "as bare" + varies),
        (replace(_RAN, results=("@ 0", "@ 9")), later, never_worse.RESULTS),
        (replace(_RAN, results=("@ 1",)), later, never_worse.RESULTS),
        (_RAISED, later, never_worse.EARLIER),
        (_RAISED, _HANGS, never_worse.EARLIER),
        (replace(_RAN, picture=""), _RAN, never_worse.PICTURE),
        (_HANGS, _RAN, "WORSE: hangs"),
        (_HANGS, _HANGS, "hangs as bare" + varies),
    ):
        assert never_worse.fair(_RAN, auto, [_RAN, again]) == said


def test_the_bare_script_starts_in_three_other_ways(capsys: pytest.CaptureFixture[str]) -> None:
    """One of them runs its models by a function more."""
    lines = []
    for other in never_worse.others(never_worse.bounded("kpu.forward(2)")):
        kpu = SimpleNamespace(forward=lambda n: [f.function for f in inspect.stack()])
        if "_mm_gc" not in other:  # which fills all memory
            exec(other, {"kpu": kpu})
            lines.append(capsys.readouterr().out)
    assert ["_mm_run" in x for x in lines] == [False, True]


def test_a_copy_ends_and_counts_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    source = (
        "import time\nstart = time.ticks_ms()\nwhile (True):\n    now = time.ticks_ms() - start\n"
    )
    exec(never_worse.bounded(source + "print(now)"), {})
    assert capsys.readouterr().out == "30\n@ the end\n"


@needs_cc
@only_thorough
@each_image
@pytest.mark.skipif(not _SCRIPTS, reason="NO SCRIPTS: set MAIXMEM_SCRIPTS to a folder of them")
def test_no_script_is_worse(image: Path) -> None:
    found = never_worse.table(image, Path(_SCRIPTS))
    assert [(n, *row) for n, row in found.items() if row[0].startswith("WORSE")] == []
