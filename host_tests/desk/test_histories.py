# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The judge of growth, held against made-up histories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import histories
import pytest
from maixmem_cli.profiler.growth import FEW, FLAT, FULL, GROWS

_EACH = 8


def _shares(
    kinds: Iterable[histories.Kind], lengths: Iterable[int], *, beside: bool
) -> dict[str, float]:
    found: Counter[str] = Counter()
    for kind in kinds:
        found += histories.told(kind, lengths, _EACH, beside=beside)
    return {kind: found[kind] / sum(found.values()) for kind in (GROWS, FULL, FLAT, FEW)}


@pytest.mark.parametrize("beside, clean", [(False, 0.03), (True, 0.1)])
def test_a_leak_is_hardly_ever_called_clean(beside: bool, clean: float) -> None:
    """Of few rounds it may be said that they are too few. With objects of its size that come and
    go by chance beside it, few steps cannot be told from these."""
    found = _shares(histories.LEAKS, histories.ROUNDS, beside=beside)
    assert found[FULL] + found[FLAT] <= clean
    assert found[GROWS] >= 0.8


@pytest.mark.parametrize("rounds, blamed", [(20, 0.06), (60, 0.015), (200, 0.015)])
def test_what_is_no_leak_is_hardly_ever_blamed(rounds: int, blamed: float) -> None:
    found = _shares(histories.INNOCENT, [rounds], beside=True)
    assert found[GROWS] <= blamed and found[FEW] <= 0.08
