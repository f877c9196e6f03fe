# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What doctor finds in a report: rules that are right on one board are not on another."""

from __future__ import annotations

from typing import Any

import pytest
from maixmem import __version__
from maixmem_cli.board.diagnosis import Diagnosis
from maixmem_cli.commands.doctor import show


def diagnosis(port: str, largest: int) -> Diagnosis:
    gc = {"name": "gc", "total": 500_000, "used": 1, "free": 400_000, "largest": largest}
    visit = Diagnosis(None, False)  # type: ignore[arg-type]
    report: dict[str, Any] = {"port": port, "version": __version__, "warnings": []}
    report["regions"] = [gc]
    visit.results["report"] = report
    visit.memory()
    return visit


@pytest.mark.parametrize(("port", "found"), [("k210", 1), ("canmv", 1), ("generic", 0)])
def test_room_for_an_image_is_asked_where_there_are_images(port: str, found: int) -> None:
    assert len(diagnosis(port, 100_000).findings) == found
    assert diagnosis(port, 200_000).findings == []


def test_what_numbers_mean_is_a_note_and_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    visit = diagnosis("generic", 100_000)
    visit.results["report"]["warnings"] = ["gc may grow: so it is"]
    visit.results["report"]["regions"][0].update(largest=None, exact=False)
    visit.memory()
    show(visit.results, visit.findings)
    said = capsys.readouterr().out
    assert visit.findings == [] and "gc may grow: so it is\nno findings" in said
    assert "390.6 KiB+" in said and "1 B-" in said and "?" in said
