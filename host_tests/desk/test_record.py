# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The record of a run as JSON: it comes back as it was, and nothing else is taken for one."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
from maixmem_cli.record import as_json, record
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
    Model,
    Place,
    Record,
    Refused,
    Step,
)

_AT = Place("main.py", 4, "<module>", "kpu.load(0x300000)")
_FULL = Record(
    script="main.py",
    board=Board(record.IMAGE, "x.bin", "x.bin", "full", 1 << 19, {"0x300000": "a.kmodel"}, {}),
    end=End(
        record.HANGS,
        (_AT,),
        "error",
        refused=Refused(HEAP, 262274, Level(9, 8, 7), (_AT,)),
        missing=Missing(record.MODEL, "0x300000"),
        words=("the board hangs",),
    ),
    pictures=3,
    rounds=2,
    asked=50,
    seconds=1,
    begin={GC: Level(500, 400, 300, collected=True)},
    steps=(
        Step(record.LOAD, (_AT,), 1, heap=Level(3, 2), model=Model("a.kmodel", 10, 0x300000)),
        Step(record.CAMERA, size=(320, 240), frame="QVGA"),
    ),
    lines=(Line(GC, _AT, 1, 2, 3, 4),),
    least=(Least(HEAP, Level(3, 1), (_AT,), 2),),
    growth=(Growth(GC, _AT, 1000, 400),),
    unknown=("malloc",),
)


def test_a_record_comes_back_as_it_was() -> None:
    assert as_json.read(as_json.write(_FULL)) == _FULL
    assert as_json.read(as_json.write(Record("", Board("image", ""), End("done")))).pictures == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 99}, "version 99"),
        ({"pictures": "three"}, "record.pictures = 'three'"),
        ({"pictures": True}, "record.pictures = True"),
        ({"colour": 1}, "'colour'"),
        ({"steps": [{}]}, "record.steps has no 'kind'"),
        ({"end": None}, "record.end = None"),
        ({"steps": [{"kind": "load", "size": [1, 2, 3]}]}, "size"),
    ],
)
def test_what_is_no_record_is_refused_by_name(change: dict[str, object], said: str) -> None:
    data = {**json.loads(as_json.write(_FULL)), **change}
    with pytest.raises(as_json.NoRecord, match=re.escape(said)):
        as_json.read(json.dumps(data))


@pytest.mark.parametrize("text", ["", "[]", "[" * 100000, "{}"])
def test_what_is_no_json_of_a_record_is_refused(text: str) -> None:
    with pytest.raises(as_json.NoRecord):
        as_json.read(text)


def test_every_field_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "record.md").read_text(encoding="utf-8")
    for kind in vars(record).values():
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            section = page.partition(f"## {kind.__name__}\n")[2].partition("\n## ")[0]
            missing = [f.name for f in dataclasses.fields(kind) if f"`{f.name}`" not in section]
            assert section and not missing, f"docs/record.md, {kind.__name__}: {missing}"
