# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the runtimes do when memory runs out within rknn_init, by plain calls; the stand-in's rule
has the same rows.

None: the process ended in that call. Our port asks the driver before, see maixmem_rknn.loading,
and has back what a failed init keeps, see maixmem_rknn.kept; what a program sees is documented in
docs/linux_tested.md.
"""

from __future__ import annotations

import json

import bench
import pytest

OLD, NEW = ("1.4.0", "1.5.0"), ("1.5.2", "1.6.0")
# (runtimes, model, flag, k): what init gives and holds, what destroy gives and what is live then
CASES = [
    (OLD, "two", 0x10, 2, [-4, 16384], None),
    (OLD, "two", 0x10, 3, [-4, 36864], None),
    (NEW, "two", 0x200, 1, [-6, 0], [0, 0]),
    (NEW, "two", 0x200, 2, [0, 20480], [0, 0]),
    (NEW, "two", 0x200, 3, [0, 40960], [0, 0]),
    (NEW, "two", 0, 4, [-4, 45056], None),
    (NEW, "segment", 0x200, 1, None, None),
    (NEW, "segment", 0x200, 2, [-6, 69632], [0, 0]),
    (NEW, "segment", 0x10, 2, None, None),
    (NEW, "segment", 0x10, 3, [-6, 708608], [0, 0]),
    (NEW, "shapes", 0x200, 3, None, None),
    (NEW, "shapes", 0x200, 4, [-6, 12288], [0, 0]),
    (NEW, "shapes", 0x10, 6, None, None),
    (NEW, "shapes", 0, 5, [-4, 69632], None),
]
ROWS = [(version, *rest) for versions, *rest in CASES for version in versions]


@pytest.mark.parametrize("version, model, flag, k, init, destroy", ROWS)
def test_memory_runs_out_in_init(version, model, flag, k, init, destroy):
    if model == "shapes":
        bench.need("models/rk3588_shapes.rknn")
    done = bench.rknn(version, "rknn_starved.py", version, model, hex(flag), str(k))
    lines = [json.loads(line[2:]) for line in done.stdout.splitlines() if line[:2] == "> "]
    found = {row[0]: row[1:] for row in lines}
    assert (found.get("init"), found.get("destroy")) == (init, destroy)
    assert (done.returncode == 0) == (destroy is not None)


# contexts of the program below that must not be destroyed: two each time with memory of ours, the
# rest with the runtime's own
LEFT_ALONE = {"1.4.0": 2 + 2 + 6, "1.5.0": 2 + 2 + 6, "1.5.2": 3, "1.6.0": 3}


@pytest.mark.parametrize("version", bench.VERSIONS)
def test_what_a_program_sees(version, tmp_path):
    """The documented state at every allocation of a use(): the process goes on, and not a byte
    stays. On the stand-in too."""
    rows = bench.rows(bench.rknn(version, "rknn_kept.py", version))
    *short, left_alone, end = [row[1:] for row in rows if row[0] != "works"]
    assert [row for row in rows if row[0] == "works"] == [["works", "loaded", []]] * 3
    assert len(short) >= 3 * 7
    for k, *row in short:
        error = "KModelError" if k == 2 else "NoRoom"  # the first piece of rknn_init: -1 or -6
        assert row == [error, "rolled_back", 0, 0, 0], k
    assert left_alone == [LEFT_ALONE[version]]
    assert end == [0, 0, 0, 0, 0]
    assert rows == bench.on_stand_in("rknn_kept.py", version, tmp_path)


@pytest.mark.parametrize("version", bench.VERSIONS)
def test_memory_runs_out_in_a_duplicate(version, tmp_path):
    """Nothing of it stays; on older runtimes what it shared stays after its model, and is counted.
    On the stand-in too."""
    rows = bench.rows(bench.rknn(version, "rknn_twins.py", version))
    *short, (live, held, bad, counted, used) = [row[1:] for row in rows]
    assert len(short) >= 7
    assert [row[1:] for row in short] == [["NoRoom", 0, 0]] * len(short)
    assert (live, held, bad, counted) == (16384 if version in OLD else 0, 0, 0, True)
    assert bool(used) == bool(live)
    assert rows == bench.on_stand_in("rknn_twins.py", version, tmp_path)
