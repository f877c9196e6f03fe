# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Our MaixCAM port on the real maix wheel, and .cvimodel forecasts against the real
libcviruntime."""

from __future__ import annotations

import json
import subprocess
import sys

import bench
import pytest
from maixmem_maixcam import read_cvimodel


def test_every_class_is_constructed_or_refused_by_name():
    models = bench.need("models") / "models"
    paths = [models / "scrfd_500m_kps_int8.cvimodel", models / "mobilefacenet_128d_int8.cvimodel"]
    rows = bench.rows(bench.maixpy("maix_classes.py", *map(str, paths)))
    assert rows[0][0] == "report" and rows[0][1][:2] == ["heap", "cmm"]
    classes = {row[1]: row for row in rows if row[0] in ("loaded", "KModelError")}
    others = [
        row
        for row in rows
        if row[0] not in ("report", "image", "no model") and row[1] not in classes
    ]
    assert not others  # a TypeError, a ValueError: an argument that the class does not take
    refused = [row for row in classes.values() if row[0] != "loaded"]
    words = ("Not implemented", "Invalid arguments: load")
    assert all(any(word in row[-1] for word in words) for row in refused), refused
    assert len(classes) >= 20, sorted(classes)
    sets = {name: row[3] for name, row in classes.items()}
    assert (sets["NN"], sets["YOLOv8"], sets["PP_OCR"], sets["NanoTrack"]) == (1, 2, 1, 1)
    assert "MUD" in [row[1] for row in rows if row[0] == "no model"]
    assert all(row[-1] for row in rows if row[0] == "image")


def test_a_mud_is_read_as_its_own_parser_reads_it():
    """Twenty texts, some of which it refuses; then twelve classes: what our forecast counts is
    what its parser names, but for the table of tokens that is mapped."""
    rows = bench.rows(bench.maixpy("maix_muds.py"))
    texts = [row[1:] for row in rows if row[0] == "text"]
    assert len(texts) == 20 and [row for row in texts if row[1] != row[2]] == []
    assert 5 <= len([row for row in texts if row[1] == "refused"]) <= 12
    classes = [row[1:] for row in rows if row[0] == "class"]
    assert len({name.split()[0] for name, *_ in classes}) == 12
    for name, theirs, ours, named, counted in classes:
        mapped = {"embed.bin": 0} if name == "Qwen mapped" else {}
        assert theirs == ours and counted == {**named, **mapped}, name


def _models() -> list[str]:
    try:
        return sorted(p.name for p in (bench.folder() / "models").glob("*.cvimodel"))
    except pytest.skip.Exception:
        return []


@pytest.mark.parametrize("name", _models() or [""])
def test_a_forecast_is_what_the_runtime_allocates(name: str):
    """Never below it; what is above are the command buffers, which the runtime's chip model keeps
    elsewhere."""
    place = bench.need("cvi/tpu_mlir/lib/libcviruntime.so", f"models/{name}")
    path = place / "models" / name
    script = bench.HERE / "cvi_allocations.py"
    command = [sys.executable, str(script), str(place / "cvi" / "tpu_mlir" / "lib"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    (found,) = bench.rows(done)
    model = read_cvimodel(str(path))
    said = model.need()
    print(
        json.dumps({"model": name, "forecast": said, "runtime": found, "commands": model.commands})
    )
    assert said >= found and said - model.commands == found
