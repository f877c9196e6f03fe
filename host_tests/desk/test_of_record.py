# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The project of a record: which models take turns, and which lie in memory together."""

from __future__ import annotations

import pytest
from maixmem_cli.plan import of_record
from maixmem_cli.record.record import FREE, LIMIT, LOAD, STAND_IN, Board, End, Model, Record, Step


def record(steps: str) -> Record:
    """Of loads, "+a", and frees, "-a", of models at addresses of their own."""
    of = {name: Model(f"{name}.kmodel", 1, 0x300000 + 4096 * ord(name)) for name in "abcd"}
    kinds = {"+": LOAD, "-": FREE}
    did = tuple(Step(kinds[word[0]], model=of[word[1]]) for word in steps.split())
    return Record("main.py", Board(STAND_IN, "full"), End(LIMIT), steps=did)


@pytest.mark.parametrize(
    "steps, turns",
    [
        ("+a -a +b -b +a", "ab"),
        ("+a +b", ""),
        ("+d +a -a +b -b +a", "ab"),  # d stays
        ("+a -a +b +c", "a"),  # b and c lie there together
        ("+a -a +b -b +c", "abc"),
    ],
)
def test_models_that_take_turns(steps: str, turns: str) -> None:
    found = {file[: -len(".kmodel")] for file, _, _ in of_record._in_turn(record(steps))}
    assert found == set(turns)
