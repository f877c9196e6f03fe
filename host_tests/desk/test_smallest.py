# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The smallest GC heap with which a script runs, and flash that it harms: parts of fit's answer on
a script. On firmware: kits/fit_gc_heap.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from maixmem_cli.emulator.session import Options
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.plan import judge, smallest
from maixmem_cli.record.record import GC, LIMIT, RAISED, Board, End, Least, Level, Record
from maixmem_cli.runs import recorded

_KIB = 1 << 10
_PLACE = recorded.Place(FIRMWARES["full"], None, Options())


def fitting(used: int) -> Record:
    """A run that had so many bytes of its GC heap in use at most, in its third picture."""
    least = Least(GC, Level(500 * _KIB, 500 * _KIB - used, collected=True), pictures=3)
    board = Board("image", "full.bin", gc_heap=512 * _KIB)
    return Record("main.py", board, End(LIMIT), 50, asked=50, least=(least,))


@pytest.mark.parametrize(
    ("used", "runs_from", "wanted", "tried"),
    [
        (2 * _KIB, 0, 64, [64]),  # none smaller boots
        (200 * _KIB, 0, 224, [224]),
        (200 * _KIB, 250, 256, [224, 240, 256]),  # in pieces: it needs more
        (200 * _KIB, 400, None, [224, 240, 256, 272]),
        (499 * _KIB, 0, None, []),  # it has no more than it needs
    ],
)
def test_it_is_what_was_in_use_and_a_margin(
    used: int,
    runs_from: int,
    wanted: int | None,
    tried: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = []

    def again(
        script: Path, place: recorded.Place, size: int, frames: int, *, detail: bool
    ) -> Record:
        sizes.append(size >> 10)
        assert not detail  # it made no JPEG
        assert frames == 20  # a few more than those in which most was in use
        found = fitting(used)
        return found if size >> 10 >= runs_from else replace(found, end=End(RAISED))

    monkeypatch.setattr(recorded, "again", again)
    size = smallest.gc_heap(fitting(used), Path("main.py"), "", _PLACE)
    assert (size and size >> 10, sizes) == (wanted, tried)


def test_a_script_that_sets_its_own_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "again", lambda *rest: 1 / 0)
    source = "maixmem.set_gc_heap(262144)"
    assert smallest.gc_heap(fitting(1), Path("main.py"), source, _PLACE) is None


def test_what_is_lost_in_flash_does_not_fit_whatever_the_run_did() -> None:
    verdict = judge.judge(fitting(1))
    assert verdict.fits and judge.with_flash(verdict, []) is verdict
    harmed = judge.with_flash(verdict, ["a.kmodel and b.kmodel overlap"])
    assert (harmed.kind, harmed.status) == (judge.NOT, 1)
    assert harmed.lines[:2] == (
        "DOES NOT FIT: a.kmodel and b.kmodel overlap",
        f"in memory, {verdict.lines[0]}",
    )
