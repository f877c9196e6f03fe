# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""ModelManager on RKNN: weights stay, working memory is shared, models go only when there is no
room."""

from __future__ import annotations

import re
import runpy
import time

import fresh
import maixmem
import manager_kit as kit
import paths
import pytest
from devtest import raises
from maixmem import NoRoom
from maixmem_models import ModelManager, ModelReleasedError
from rknn_raw import (
    MULTI,
    SEGMENT,
    Raw,
    answer,
    port,
    rknn_model,
    small,
)


def run(manager, name, data):
    """Uses a model and checks what it computes."""
    assert manager.use(name).run(b"q" * 64) == answer(data, b"q" * 64)


def test_models_stay_while_there_is_room(boards):
    raw, p = boards()
    m = ModelManager(p)
    data = {name: small(name, internal=40000 * (i + 1)) for i, name in enumerate("abcde")}
    for name, model in data.items():
        m.add(name, model)
    for _ in range(3):
        for name, model in data.items():
            run(m, name, model)
    assert m.switches == 5 and len(p.models) == 5  # loaded once each
    assert raw.npu.by_kind()["mem"] - sum(x.io for x in p.models) < 200000 + 5 * 8192 + 4096
    assert all(row["is"] == "resident" for row in m.status(lambda line: None)["models"])
    m.release_all()
    assert (raw.npu.live, p.used) == (0, 0)


def test_the_least_recently_used_goes(boards):
    raw, p = boards(budget=230_000)
    m = ModelManager(p, margin=0)
    data = {name: small(name, weight=40960, internal=20000) for name in "abcde"}
    for name, model in data.items():
        m.add(name, model)
    gone = m.use("b")
    for name in "abcaded":
        run(m, name, data[name])
    rows = m.status(lambda line: None)["models"]
    assert {row["name"] for row in rows if row["is"] == "resident"} == set("ade")
    assert raw.npu.live <= p.used <= 230_000 and raw.npu.peak <= 230_000
    with pytest.raises(ModelReleasedError):
        gone.run(b"q" * 64)


def test_a_model_too_large_to_ask_about_is_asked_after_the_others_went(boards):
    """The info-only load takes the size of the file: it has to wait for room, and must not refuse
    for lack of it."""
    raw, p = boards(capacity=6 << 20)
    m = ModelManager(p, margin=0)
    other = rknn_model.build("other", 2738961, **dict(rknn_model.MEASURED["segment"][1]))
    m.add("segment", SEGMENT)
    m.add("other", other)
    m.use("segment")
    assert p.room("npu") - p.arena.size < 2738961
    assert p.inspect(other).certainty == "at most"  # asked when it was added
    assert m.use("other").run(bytes(192 * 192 * 3)) == answer(other, bytes(192 * 192 * 3))
    assert len(p.models) == 1 and m.use("other").raw is p.models[0]


def test_no_room_at_all(boards):
    raw, p = boards(capacity=4 << 20)
    m = ModelManager(p)
    m.add("multi", MULTI)
    m.add("segment", SEGMENT)
    m.use("multi")
    e = raises(NoRoom, m.use, "segment")
    assert e.region == "npu" and m.state == "rolled_back"
    assert m.use("multi").run(bytes(10800), bytes(4096))


def test_each_load_is_measured_by_the_books(boards):
    """Weights of each, the shared block with the load that made it larger, and nothing that
    another program takes meanwhile."""
    raw, p = boards()
    m = ModelManager(p)
    for i, name in enumerate("abc"):
        m.add(name, small(name, internal=65536 * (i + 1)))
    load = p.load
    p.load = lambda *source, **how: (load(*source, **how), raw.runtime.dma_alloc(1 << 20))[0]
    before = raw.npu.live
    for name in "abc":
        m.use(name)
    took = [row["measured"] for row in m.status(lambda line: None)["models"]]
    assert sum(took) == p.used and min(took) > 65536
    assert 0 <= sum(took) - (raw.npu.live - before - (3 << 20)) < 3 * 3 * 4096


def test_on_a_mini_chip_the_block_grows_by_evicting(boards):
    data = {
        "a": small("a", targets=("rv1106",)),
        "big": small("big", internal=200_000, targets=("rv1106",)),
    }
    raw, p = boards(profile="rv1106", capacity=1 << 20)
    m = ModelManager(p)
    for name, model in data.items():
        m.add(name, model)
    for name in ("a", "big", "a", "big"):
        run(m, name, data[name])
    assert len(p.models) == 2 and m.switches == 3  # a went for the larger block, then both fitted


def test_a_thousand_switches_are_flat(boards):
    raw, p = boards(budget=120_000)
    m = ModelManager(p, margin=0)
    data = {name: small(name, internal=60_000 + 1000 * i) for i, name in enumerate("abcd")}
    for name, model in data.items():
        m.add(name, model)
    lives = set()
    for i in range(1000):
        run(m, "abcd"[i % 4], data["abcd"[i % 4]])
        if i % 4 == 3 and i > 8:
            lives.add(raw.npu.live)
        if i % 100 == 0:
            fresh.quick_collections()  # the runtime remembers what was destroyed
    assert m.switches > 700 and len(lives) <= 2
    m.release_all()
    assert (raw.npu.live, p.used, raw.runtime.contexts(), raw.runtime.leaks()) == (0, 0, [], [])


def test_the_front_door(boards):
    """report() and Watch on this port."""
    raw, p = boards()
    maixmem.set_port(p)
    try:
        watch = maixmem.Watch()
        p.load(SEGMENT)
        watch.sample()
        assert watch.high_water()["npu"] == raw.npu.live
        lines = []
        shown = maixmem.report(lines.append)
        assert shown["port"] == "rknn" and {r["name"] for r in shown["regions"]} >= {
            "ram",
            "npu",
            "arena",
        }
        assert any(line.startswith("npu") for line in lines)
    finally:
        maixmem.set_port(None)


def test_the_example(boards, monkeypatch, capsys, tmp_path):
    """examples/rknn_switch.py as a user runs it, with two models in its folder."""
    raw, p = boards()
    monkeypatch.setattr(port, "open_library", lambda: raw.lib)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "detect.rknn").write_bytes(small("detect"))
    (tmp_path / "classify.rknn").write_bytes(small("classify", internal=100_000))
    try:
        runpy.run_path(str(paths.EXAMPLES / "rknn_switch.py"), run_name="__main__")
    finally:
        maixmem.set_port(None)
    out = capsys.readouterr().out
    assert "detect: 32 bytes" in out and "classify: 32 bytes" in out and "saved 65536 bytes" in out
    assert raw.npu.live == 0


# (inputs, outputs) of a model for two resolutions
SIDE_8 = ([[[1, 8, 8, 3], 0]], [[[1, 32], 0]])
SIDE_4 = ([[[1, 4, 4, 3], 0]], [[[1, 16], 0]])


@pytest.mark.parametrize(
    ("shapes", "says"),
    [
        ({}, ["one resolution only"]),
        (
            {"shapes": [SIDE_8, SIDE_4], "inputs": SIDE_8[0], "outputs": SIDE_8[1]},
            ["(1, 8, 8, 3): 32 bytes", "(1, 4, 4, 3): 16 bytes", "not on shared weights"],
        ),
    ],
    ids=["one", "several"],
)
def test_the_example_of_memory(boards, monkeypatch, capsys, tmp_path, shapes, says):
    """examples/rknn_memory.py as a user runs it: each way of the vendor's guide, and nothing is
    left."""
    raw, p = boards()
    monkeypatch.setattr(port, "open_library", lambda: raw.lib)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "detect.rknn").write_bytes(small("detect", **shapes))
    try:
        runpy.run_path(str(paths.EXAMPLES / "rknn_memory.py"), run_name="__main__")
    finally:
        maixmem.set_port(None)
    out = capsys.readouterr().out
    assert "in blocks of your own: 32 bytes" in out and "in two threads: [32, 32] bytes" in out
    assert all(text in out for text in says), out
    assert out.endswith("left: 0 bytes\n") and raw.npu.live == 0


def test_the_example_of_cores(boards, monkeypatch, capsys, tmp_path):
    """examples/rknn_cores.py: a context for each core, all on one set of weights."""
    raw, p = boards()
    monkeypatch.setattr(port, "open_library", lambda: raw.lib)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "detect.rknn").write_bytes(small("detect", weight=409600))
    ran, run = set(), raw.runtime._work

    def work(context, damage):
        ran.add(context.cores)
        time.sleep(0.002)
        run(context, damage)

    monkeypatch.setattr(raw.runtime, "_work", work)
    try:
        runpy.run_path(str(paths.EXAMPLES / "rknn_cores.py"), run_name="__main__")
    finally:
        maixmem.set_port(None)
    out = capsys.readouterr().out
    first, *others = map(int, re.findall(r"core \d: (\d+) bytes", out))
    assert len(others) == 2 and first > 409600 > 2 * sum(others) and ran == {1, 2, 4}
    assert re.findall(r"frame (\d+): 32 bytes", out) == [str(n) for n in range(12)]
    assert out.endswith("left: 0 bytes\n") and raw.npu.live == 0


class Rknn:
    """Four models that compute in one block; live() is what the NPU driver counts."""

    share = "arena"
    models = [
        (small(n, weight=8192 * (i + 1), internal=65536 - 4096 * i), {})
        for i, n in enumerate(kit.NAMES)
    ]
    refusal = ("rknn_create_mem", 0)

    def start(self):
        self.raw = Raw()
        self.other = None
        return self.raw.plug()

    @property
    def faults(self):
        return self.raw.runtime.faults

    def fill(self, left: int) -> None:
        npu = self.raw.npu
        if self.other:
            npu.free(self.other)
        self.other = npu.take("camera", npu.capacity - npu.live - left)

    def live(self) -> int:
        return self.raw.npu.live - (self.other.taken if self.other else 0)


@pytest.mark.parametrize("check", kit.CHECKS, ids=lambda c: c.__name__)
def test_what_every_port_does(check):
    check(Rknn())
