# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Wrong numbers and kinds of arguments: the stand-in raises what the firmware was seen to raise;
and it still does.

The second needs $MAIXMEM_FIRMWARE: files, or folders with files, of MaixPy v0.6.2_84 (full
build)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import sim_both
import sim_refusals
from maixmem_cli.library import places

_ASKED = 25  # calls of each group that a test makes on a firmware
_GROUPS = sim_refusals.groups()
_EACH = pytest.mark.parametrize("group", _GROUPS, ids=[group.name for group in _GROUPS])
#: what the firmware does here hangs on what lies in memory beside the object
_CHANCE = {"PWM(object(),freq=500000,duty=50,pin=9)"}


@pytest.mark.skipif(places.micropython() is None, reason="no MicroPython unix port")
@_EACH
def test_the_stand_in_answers_as_the_firmware(group: sim_refusals.Group, tmp_path: Path) -> None:
    known = sim_refusals.known()[group.name]
    assert list(known) == group.wrong()
    found = sim_refusals.stand_in(group, list(known), tmp_path)
    different = {call: (known[call], found[call]) for call in known if known[call] != found[call]}
    assert set(different) <= _CHANCE, different


@pytest.mark.skipif(sim_both.firmware("full") is None, reason=sim_both.NO_IMAGE)
@_EACH
def test_the_firmware_answers_as_it_did(group: sim_refusals.Group) -> None:
    known = sim_refusals.known()[group.name]
    calm = [call for call in known if known[call] != sim_refusals.HANGS and call not in _CHANCE]
    asked = random.Random(group.name).sample(calm, min(_ASKED, len(calm)))
    found = sim_refusals.ask(sim_both.firmware("full"), group, asked)
    assert found == {call: known[call] for call in asked}
