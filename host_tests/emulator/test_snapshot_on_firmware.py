# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem heap` on firmware in the K210 in software: after a program, and inside one that goes
on."""

from __future__ import annotations

import json

import heap_truth
import pytest
from commands import maixmem
from emulated import THOROUGH, each_image, needs_cc

pytestmark = needs_cc
LEAKS = """
import sensor
sensor.reset()
sensor.set_pixformat(sensor.GRAYSCALE)
sensor.set_framesize(sensor.QQVGA)
kept = []
window = []
while True:
    image = sensor.snapshot()
    kept.append((image.width(), bytearray(100)))
    window.append(bytearray(64))
    if len(window) > 5:
        window.pop(0)
"""


@each_image
def test_a_leak_of_the_running_program(image, tmp_path):
    script = tmp_path / "main.py"
    script.write_text(LEAKS)
    moments = [word for s in ("1", "2", "3") for word in ("--after", s)]
    told = json.loads(
        maixmem(
            "heap", str(image), "--run", str(script), "--camera", "pattern", *moments, "--json"
        )
    )
    growing = {g["path"] for g in told["growing"]}
    assert {"main.kept[*]", "main.kept[*][*]"} <= growing
    assert not any(path.startswith("main.window") for path in growing)


@each_image
def test_both_heaps(image, tmp_path):
    script = tmp_path / "main.py"
    script.write_text("table = {'a': bytearray(5000)}\n")
    told = json.loads(maixmem("heap", str(image), "--run", str(script), "--json"))
    (main,) = [o for o in told["owners"] if o["kind"] == "main"]
    assert any(o["path"] == "main.table" and o["bytes"] > 5000 for o in main["holds"])
    system = told["system"]
    assert any(c["used"] and c["bytes"] > told["gc"]["total"] for c in system)


@each_image
def test_the_truth_of_random_graphs(image):
    """As host_tests/kits/heap_truth.py, which runs more of them."""
    score = heap_truth.Score()
    with heap_truth.started(image) as target:
        for seed in range(1, 7) if THOROUGH else (1,):
            heap_truth.one(target, seed, score, 2)
    assert score.wrong == []
    assert score.count["heads and sizes, right"] > 300
    assert score.count["named objects, right"] > 40 and score.count["retained, right"] >= 2
