# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Threads and one model manager on the Linux boards: nothing is lost, nothing is loaded twice,
nobody waits for ever."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import maixmem
import pytest
import threads_kit as kit
from cvimodel_build import cvimodel, program
from linux_boards import shim
from maixmem_models import ModelManager
from maixmem_port import Port as BasePort
from rknn_raw import in_threads, small

maixcam_board, maixcam = shim("maixcam", "maixcam_board", "maixmem_maixcam")
LockError = shim("rknn", "librknnrt", "maixmem_rknn")[1].LockError


def test_ten_thousand_random_calls_of_two_threads(boards, monkeypatch):
    """With a budget for three of five models and one allocation in fifty failing."""
    monkeypatch.setattr(gc, "collect", lambda: 0)  # thousands of times all that pytest holds
    raw, p = boards(budget=400_000)
    sources = [
        (small(n, version=2, weight=40960, internal=20000 + 999 * i), {})
        for i, n in enumerate("abcde")
    ]
    fits = raw.npu._fits
    raw.npu._fits = kit.failing(0.02, 7, fits)
    m = ModelManager(p, margin=0)
    done, refused = kit.hammer(m, sources, 10_000)
    assert done == 10_000 and refused > 30 and m.switches > 500
    assert kit.handles(m) == sorted(map(id, p.models))
    raw.npu._fits = fits
    assert not [x.pin_count for x in m.models.values() if x.pin_count]
    for name in range(5):
        m.use(name)
    m.release_all()
    assert (raw.npu.live, p.models, p.lib.leaked_bytes) == (0, [], 0)


@pytest.mark.parametrize("seed", range(3))
def test_private_models_too(boards, seed: int):
    raw, p = boards(budget=400_000)
    how = [{}, {"shared": False}, {"dup": True}, {"shared": False}]
    sources = [(small(n, weight=40960), how[i]) for i, n in enumerate("abcd")]
    m = ModelManager(p, margin=0)
    kit.hammer(m, sources, 1200, seed, threads=3)
    assert kit.handles(m) == sorted(map(id, p.models))
    m.release_all()
    assert (raw.npu.live, p.models) == (0, [])


def test_on_maixcam(tmp_path: Path):
    sources: list[Any] = []
    for i in range(4):
        path = tmp_path / f"{i}.cvimodel"
        io = [("in", "UINT8", (1, 3, 10, 10 + i))]
        path.write_bytes(cvimodel([("weight", 90000)], [program(private=64, inputs=io)]))
        sources.append((str(path), {}))
    maixcam_board.reset("maixcam")
    p = maixcam.Port(maixcam_board.read_text)
    m = ModelManager(p, keep=2, margin=0)
    kit.hammer(m, sources, 2000)
    assert len(m.loaded()) <= 2
    m.release_all()
    assert maixcam_board.cmm.live() == 0


def test_two_managers_of_one_port_wait_for_each_other(boards):
    raw, p = boards()
    sources = [(small(n), {}) for n in "ab"]
    managers = [ModelManager(p), ModelManager(p)]
    errors = in_threads([lambda m=m: kit.hammer(m, sources, 600) for m in managers])
    assert errors == []
    assert sorted(kit.handles(managers[0]) + kit.handles(managers[1])) == sorted(map(id, p.models))
    for m in managers:
        m.release_all()
    assert (raw.npu.live, p.models) == (0, [])


class Slow(BasePort):
    """A port whose load of "slow" waits until it is told to go on."""

    def __init__(self) -> None:
        self.began, self.go, self.loads = threading.Event(), threading.Event(), 0

    def inspect(self, source, **how):
        return maixmem.Cost({}, {})

    def check_fit(self, cost, margin, freed=()):
        return None

    def free_bytes(self):
        return 0

    def load(self, source, **how):
        if source == "slow":
            self.began.set()
            assert self.go.wait(20)
        self.loads += 1
        return object()

    def unload(self, handle):
        pass


def test_a_model_is_loaded_once_and_others_are_handed_out_meanwhile():
    p = Slow()
    m = ModelManager(p, keep=3)
    for name in ("slow", "quick", "other"):
        m.add(name, name)
    quick = m.use("quick")
    threads = [threading.Thread(target=m.use, args=("slow",)) for _ in range(2)]
    threads.append(threading.Thread(target=m.use, args=("other",)))
    threads[0].start()
    assert p.began.wait(20)
    for thread in threads[1:]:
        thread.start()
    assert m.use("quick") is quick  # resident: nobody waits for it
    p.go.set()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert p.loads == 3 and len(m.loaded()) == 3


def test_inside_a_models_turn_nobody_waits_for_ever(boards):
    """One thread is in the with block of a model that another evicts: a sentence, not a
    deadlock."""
    raw, p = boards(budget=160_000)
    m = ModelManager(p, margin=0)
    for name in "abc":
        m.add(name, small(name, weight=40960), shared=False)
    evicted = threading.Thread(target=m.use, args=("b",))
    waits = threading.Event()
    unload = p.unload
    p.unload = lambda handle: (waits.set(), unload(handle))[1]
    with m.use("a").raw as a:
        evicted.start()  # has to unload a, and waits for this block
        assert waits.wait(20)
        with pytest.raises(LockError, match="leave its with block"):
            m.use("c")
        a.execute()
    evicted.join(20)
    assert not evicted.is_alive() and [x.name for x in m.loaded()] == ["b"]


def test_a_block_of_using_ends_inside_a_turn(boards):
    raw, p = boards(budget=300_000)
    m = ModelManager(p, margin=0)
    for name in "abc":
        m.add(name, small(name, weight=40960), shared=False)
    using = m.using("b")
    net = using.__enter__()
    waits, unload = threading.Event(), p.unload
    p.unload = lambda handle: (waits.set(), unload(handle))[1]
    with m.use("a").raw:
        evicted = threading.Thread(target=m.use, args=("c",))
        evicted.start()
        assert waits.wait(20)
        using.__exit__(None, None, None)
    evicted.join(20)
    assert not evicted.is_alive() and net.pin_count == 0


def test_a_resident_model_costs_no_lock(boards):
    raw, p = boards()
    m = ModelManager(p)
    assert m.use.__func__ is ModelManager.use and m._switch.__qualname__ != "ModelManager._switch"
