# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem heap` on firmware in the K210 in software: after a program, and inside one that goes
on."""

from __future__ import annotations

import json
import shutil

import heap_truth
import pytest
from commands import invoke, maixmem
from emulated import THOROUGH, each_image, needs_cc
from maixmem_cli.emulator import prepared
from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.library import bytecode, modules
from maixmem_cli.snapshot import take, view

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
@pytest.mark.parametrize("rounds", range(60, 76, 3))
def test_a_program_that_ends_before_its_last_moment(image, rounds, tmp_path, monkeypatch):
    """The timer that is due meanwhile reads a part of the code that takes it back."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # a board that no other test has
    script = tmp_path / "main.py"
    script.write_text(f"import time\nfor n in range({rounds}):\n    time.sleep_ms(3)\n")
    moments = [word for s in ("0.08", "0.16", "0.3") for word in ("--after", s)]
    done = invoke("heap", f"emu:{image}", "--run", str(script), *moments)
    assert done.exit_code == 1 and "The program ended before." in done.stderr, done.stderr


@each_image
def test_both_heaps(image, tmp_path):
    script = tmp_path / "main.py"
    script.write_text("table = {'a': bytearray(5000)}\n")
    told = json.loads(maixmem("heap", str(image), "--run", str(script), "--json"))
    (main,) = [o for o in told["owners"] if o["kind"] == "main"]
    assert any(o["path"] == "main.table" and o["bytes"] > 5000 for o in main["holds"])
    system = told["system"]
    assert any(c["used"] and c["bytes"] > told["gc"]["total"] for c in system)


SAVES = """
import gc, os
os.chdir('/sd')
table = {'a': bytearray(5000)}
rows = [{'id': i, 'raw': bytes(range(50 + i))} for i in range(30)]
def working(mine):
    import maixmem_snapshot
    left = []
    for i in range(3):
        maixmem_snapshot.save('/sd/heap.bin')
        gc.collect()
        left.append(gc.mem_alloc())
    print('left', max(left) - left[0])
working([1.5] * 30)
"""
READS = """
import ubinascii
with open('/sd/heap.bin', 'rb') as f:
    while True:
        part = f.read(480)
        if not part:
            break
        print(ubinascii.hexlify(part).decode())
"""


@each_image
def test_a_board_writes_one_itself(image, tmp_path):
    """To its card, in the middle of a program: both heaps; held against one over the cable."""
    card = tmp_path / "card"
    card.mkdir()
    files = prepared.files_of_library()
    for name in ("maixmem.mpy", "maixmem_k210_heap.mpy"):
        shutil.copy(files[name], card / name)
    bytecode.compile_modules(modules.ALONE, 4, card)
    script, saved = tmp_path / "main.py", tmp_path / "heap.bin"
    script.write_text(SAVES)
    with Session(image, script, Options(sd=card)) as board:
        said, error = board.repl.run(SAVES, 120)
        assert (error, said.split()) == ("", ["left", "0"])
        read = board.repl.check(READS, 300)
        by_cable = view.view(take.of_board(board.repl))
    saved.write_bytes(bytes.fromhex("".join(read.split())))
    told = json.loads(maixmem("heap", str(saved), "--json"))
    (main,) = [o for o in told["owners"] if o["kind"] == "main"]
    holds = {o["path"]: o for o in main["holds"]}
    cable = {o.path: o for root in by_cable.owners for o in root.all()}
    for path in ("main.table", "main.rows"):
        assert holds[path]["bytes"] == cable[path].nbytes > 2000, path
        assert holds[path]["objects"] == cable[path].objects
    (local,) = [o for o in told["owners"] if o["kind"] == "a stack"]
    assert any(o["path"] == "locals: mine of working()" for o in local["holds"])
    system = [(c["address"], c["bytes"]) for c in told["system"]]
    assert set(system) >= {c[:2] for c in by_cable.taken.chunks[:1]} and len(system) > 2


@each_image
def test_the_truth_of_random_graphs(image):
    """As host_tests/kits/heap_truth.py, which runs more of them."""
    score = heap_truth.Score()
    with heap_truth.started(image) as target:
        for seed in range(1, 7) if THOROUGH else (5,):  # 5 has a thread
            heap_truth.one(target, seed, score, 2)
    assert score.wrong == []
    assert score.count["heads and sizes, right"] > 300
    assert score.count["named objects, right"] > 40 and score.count["retained, right"] >= 2
