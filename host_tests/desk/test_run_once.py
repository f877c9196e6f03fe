# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""run_once() on a desk, where thousands of modules are loaded: a part that is in memory costs no
walk over them, and a part that came goes again with what it imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import maixmem
import maixmem_text
import pytest


class Walked(dict):
    """Modules that count how often somebody goes through all of them."""

    walks = 0

    def __iter__(self) -> Iterator[str]:
        type(self).walks += 1
        return super().__iter__()


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Walked:
    monkeypatch.setattr(Walked, "walks", 0)
    walked = Walked(sys.modules)
    monkeypatch.setattr(maixmem, "modules", walked)
    return walked


def test_a_part_in_memory_costs_no_walk(modules: Walked) -> None:
    assert maixmem.run_once("text", "fill", "place_not_checked")
    assert modules.walks == 0
    assert modules["maixmem_text"] is maixmem_text


def test_a_part_that_came_goes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "maixmem_text")
    before = set(sys.modules)
    assert maixmem.run_once("text", "fill", "place_not_checked")
    assert {name for name in set(sys.modules) - before if "maixmem" in name} == set()
