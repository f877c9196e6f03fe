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
#: what a call answers here hangs on the calls before it
_IN_ORDER = {"names of " + name for name in ("sensor", "Maix.FPIOA")}
_EACH = pytest.mark.parametrize("group", _GROUPS, ids=[group.name for group in _GROUPS])
#: what the firmware does here hangs on what lies in memory beside the object
_CHANCE = {"PWM(object(),freq=500000,duty=50,pin=9)"}


def test_every_name_is_asked() -> None:
    asked = {group.name: set(group.wrong()) for group in _GROUPS}
    assert {name: set(calls) for name, calls in sim_refusals.known().items()} == asked


@pytest.mark.skipif(places.micropython() is None, reason="no MicroPython unix port")
def test_the_stand_in_answers_as_the_firmware(tmp_path: Path) -> None:
    known = sim_refusals.known()
    found = sim_refusals.stand_in(_GROUPS, tmp_path)
    different: dict[str, list[tuple[str, str, str]]] = {}
    for group, answers in known.items():
        for call, answer in answers.items():
            if found[group][call] != answer:
                name = sim_refusals.name_of(group, call)
                different.setdefault(name, []).append((call, answer, found[group][call]))
    listed = sim_refusals.otherwise()
    assert not {name: calls for name, calls in different.items() if name not in listed}
    assert not set(listed) - set(different), "no longer otherwise"


@pytest.mark.skipif(sim_both.firmware("full") is None, reason=sim_both.NO_IMAGE)
@_EACH
def test_the_firmware_answers_as_it_did(group: sim_refusals.Group) -> None:
    known = sim_refusals.known()[group.name]
    calm = [call for call in known if known[call] != sim_refusals.HANGS and call not in _CHANCE]
    asked = random.Random(group.name).sample(calm, min(_ASKED if group.calls else 8, len(calm)))
    asked = calm[:_ASKED] if group.name in _IN_ORDER else asked
    found = sim_refusals.ask(sim_both.firmware("full"), group, asked)
    assert found == {call: known[call] for call in asked}
