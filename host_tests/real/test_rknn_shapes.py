# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Models for several shapes, made by the vendor's toolkit (make_shapes.py), on the vendor's
runtimes and on our stand-in."""

from __future__ import annotations

import json
from pathlib import Path

import bench
import pytest
from test_rknn_runtime import first_difference

FILES = ("models/rk3588_shapes.rknn", "models/rk3588_shapes_two.rknn")


@pytest.mark.parametrize("version", ["1.5.2", "1.6.0"])
def test_every_shape_in_every_order(version: str, tmp_path: Path):
    """On both alike; nothing is below the port's figures, a change that fails leaves all as it
    was, 0 bytes stay."""
    bench.need(*FILES)
    rows = bench.rows(bench.rknn(version, "rknn_shapes.py", version))
    assert not first_difference(rows, bench.on_stand_in("rknn_shapes.py", version, tmp_path))
    by_kind: dict[str, list] = {}
    for row in rows:
        by_kind.setdefault(row[0], []).append(row[1:])
    assert len(by_kind["load"]) == 12 and len(by_kind["set"]) == 12 * 9
    assert all(row[2] in (True, None) for row in by_kind["load"])  # the forecast holds
    assert all(row[1:3] == ["NoRoom", [True, True]] for row in by_kind["starved"])
    assert len(by_kind["refused"]) == 6 + 12 and len(by_kind["master"]) == 12
    assert {row[0] for row in by_kind["master"]} == {"KModelError"}
    assert len(by_kind["twin"]) == 2 and by_kind["unload"] == [[0, 0, 0]] * 12
    for kind in ("load", "set", "starved", "twin", "twin's"):
        assert all(row[-1] is True for row in by_kind[kind]), kind
    for _, _, _, state, shapes, _ in by_kind["load"]:
        inputs = [row[0] for row in state[: len(shapes)]]
        assert inputs == [known[0] for known in shapes]


@pytest.mark.parametrize("version", ["1.5.2", "1.6.0"])
def test_without_a_shape_the_runtime_ends_the_process(version: str):
    """Why the port chooses the first shape before it attaches memory."""
    bench.need(*FILES)
    done = bench.rknn(version, "rknn_no_shape.py", version)
    rows = [json.loads(line[2:]) for line in done.stdout.splitlines() if line[:2] == "> "]
    first = [1, 128, 128, 3]
    assert rows == [["init", 0], ["attr", 14, -7, []], ["attr", 1, 0, first], ["create", True]]
    assert done.returncode != 0 and "std::out_of_range" in done.stderr


@pytest.mark.parametrize("version", ["1.4.0", "1.5.0"])
def test_older_runtimes_refuse_by_name(version: str):
    bench.need(*FILES)
    done = bench.rknn(version, "rknn_shapes.py", version)
    assert "KModelError" in done.stderr
    assert (
        "converted for several shapes, and librknnrt.so has no rknn_set_input_shapes"
        in done.stderr
    )
