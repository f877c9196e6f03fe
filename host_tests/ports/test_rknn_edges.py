# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""RKNN: what a careless or unlucky program may do to our port besides breaking the runtime's
rules."""

from __future__ import annotations

import ctypes
import os
import pickle
import runpy
import threading

import maixmem_generic
import paths
import pytest
from devtest import raises
from maixmem import NoRoom
from maixmem_models import ModelManager
from maixmem_rknn import read_file
from rknn_raw import (
    PAGE,
    Block,
    answer,
    in_threads,
    port,
    small,
)


def test_wrong_layouts_stop_the_import(monkeypatch):
    real = ctypes.sizeof
    monkeypatch.setattr(
        ctypes, "sizeof", lambda t: real(t) + (getattr(t, "__name__", "") == "MemSize")
    )
    e = raises(ImportError, runpy.run_path, str(paths.LIB / "maixmem_rknn" / "api.py"))
    assert "MemSize" in str(e) and "65 bytes here, 64 in rknn_api.h" in str(e)


def test_descriptors_that_are_no_npu_memory(boards, tmp_path):
    """The runtime would take any number: files and pipes are refused before it is asked."""
    raw, p = boards()
    model = p.load(small("a"))
    live = raw.npu.live
    file = tmp_path / "plain"
    file.write_bytes(bytes(PAGE))
    with open(file, "rb") as f:
        e = raises(ValueError, model.inputs[0].attach, Block(4096, PAGE, fd=f.fileno()))
    assert "not a memory. Next: give a dma-buf" in str(e)
    ends = os.pipe()
    try:
        raises(ValueError, model.inputs[0].attach, Block(4096, PAGE, fd=ends[0]))
    finally:
        for fd in ends:
            os.close(fd)
    assert raw.npu.live == live and model.run(bytes(64)) == answer(small("a"), bytes(64))


def test_io_memory_of_another_size(boards):
    raw, p = boards()
    model = p.load(small("a"))
    mem = p.lib.create_mem(model.ctx, 100)
    e = raises(ValueError, p.lib.set_io, model.ctx, mem, model.inputs[0].attr, 64)
    assert "a tensor of 64 bytes, its memory has 100" in str(e)


@pytest.mark.parametrize("how", [{}, {"shared": False}, {"dup": True}])
def test_a_model_without_internal_memory_or_weights(boards, how):
    """Whether the runtime runs without was not measured: it gets a page where it must be given
    something."""
    raw, p = boards()
    data = small("a", internal=0, weight=0)
    model = p.load(data, **how)
    assert model.run(bytes(64)) == answer(data, bytes(64))
    p.unload(model)
    assert (raw.npu.live, p.used) == (0, 0)


def test_a_view_that_something_else_still_holds(boards):
    raw, p = boards()
    model = p.load(small("a"))
    with model:
        view = model.outputs[0].view()
        held = pickle.PickleBuffer(view)
    assert len(held.raw()) == 32  # it cannot be taken back, and the turn ended all the same
    assert model.run(bytes(64)) == answer(small("a"), bytes(64))


def test_a_model_of_another_port(boards):
    first = boards()[1]
    model = first.load(small("a"))
    second = boards()[1]
    assert "not loaded here" in str(raises(ValueError, second.unload, model))
    assert "not loaded here" in str(raises(ValueError, second.dup, model))


def test_another_thread_is_not_in_the_turn(boards):
    raw, p = boards()
    model = p.load(small("a"))
    with model:
        errors = in_threads([model.execute])
    assert [type(e) for e in errors] == [RuntimeError]


def test_what_the_platform_cannot_say(boards):
    raw, p = boards()
    assert p.room("no such region") == 0
    raises(NotImplementedError, p.new_image, 1, 2, "rgb")
    raises(NotImplementedError, p.copy_into, b"", b"")
    raises(NotImplementedError, p.read_flash, 0, 1)
    assert p.warnings() == []


# --- what is not known, or not what it seems ---


def meminfo(monkeypatch, **found: int) -> None:
    monkeypatch.setattr(maixmem_generic, "meminfo", lambda *path: found)


def test_free_memory_that_cannot_be_read_is_not_zero(boards, monkeypatch):
    raw, p = boards()
    meminfo(monkeypatch, MemTotal=1 << 30)
    assert [(r.total, r.free) for r in p.regions() if r.name == "npu"] == [(None, None)]
    level = [7]
    p.sample(level)
    assert level == [7] and p.room("npu") == 0
    e = raises(NoRoom, p.load, small("a"))
    assert "cannot be read: give Port(budget=" in str(e) and e.need > 0 and e.free is None
    assert not raw.npu.live
    p = port.Port(raw.lib, soc="rk3588", budget=1 << 20)
    assert p.load(small("a")).run(bytes(64)) == answer(small("a"), bytes(64))


def test_memory_that_the_driver_has_not_is_told_before_init(boards, monkeypatch):
    """Linux says that there is enough, the NPU's driver that there is not: rknn_init would end the
    process."""
    raw, p = boards(capacity=1 << 16)
    meminfo(monkeypatch, MemTotal=1 << 30, MemAvailable=1 << 29)
    data = small("a", weight=1 << 17)
    e = raises(NoRoom, p.load, data)
    for word in ("model from memory: the driver has not the", str(1 << 29), "unload a model"):
        assert word in str(e)
    assert e.need > 1 << 17 and raw.npu.live == p.used == p.lib.leaked_contexts == 0


def test_the_chip_may_be_named_in_capitals(boards):
    raw, _ = boards()
    p = port.Port(raw.lib, soc="RK3588")
    assert "for rk3566, this chip is rk3588" in p.inspect(small("a", targets=("rk3566",))).refuse


def test_a_chip_that_no_table_has_is_named(boards):
    """Its models are not refused, for nothing is known of it."""
    raw, p = boards()
    assert p.warnings() == []
    p = port.Port(raw.lib, soc="RK3572")
    assert [w[:40] for w in p.warnings()] == ["rk3572: a chip that this library does no"]
    assert read_file(small("a")).refuse("rk3572") is None


def test_a_library_that_is_not_the_runtime_names_the_call_it_lacks():
    e = raises(ImportError, port.Port, ctypes.CDLL(None))
    assert "has no rknn_init" in str(e) and "Next:" in str(e)


def test_sram_is_a_bound_between_loads(boards):
    _, p = boards("rk3588-sram")
    p.unload(p.load(small("a")))
    assert [r.exact for r in p.regions() if r.name == "sram"] == [False]


def test_slices_of_a_view_keep_the_model(boards):
    raw, p = boards()
    model = p.load(small("a"))
    with model:
        part = model.inputs[0].view()[:16]
        copy = bytes(part)
    e = raises(ValueError, p.unload, model)
    assert "1 views of model from memory are still in use" in str(e) and model in p.models
    part[0] = 7  # its memory is there
    del part
    p.unload(model)
    assert copy == bytes(16) and not p.models and not raw.npu.live


def test_a_private_model_that_runs_is_unloaded_when_it_is_done(boards):
    """The thread that runs it wants the port's turn meanwhile; unload() must not hold that and
    wait."""
    _, p = boards()
    private, other = p.load(small("a"), shared=False), p.load(small("b"))
    inside, waits = threading.Event(), threading.Event()

    def run() -> None:
        with private:
            inside.set()
            waits.wait(0.2)  # unload() is at its lock by then
            other.run(bytes(64))

    def unload() -> None:
        inside.wait()
        p.unload(private)

    assert in_threads([run, unload]) == [] and p.models == [other]


def test_the_manager_evicts_when_another_process_has_the_memory(boards, monkeypatch):
    """The system says that there is enough, the NPU says -4."""
    raw, p = boards(capacity=1 << 20)
    meminfo(monkeypatch, MemTotal=1 << 30, MemAvailable=1 << 29)
    m = ModelManager(p, margin=0)
    for name in ("a", "b"):
        m.add(name, small(name, weight=300 << 10, blob=310 << 10))
    m.use("b")
    m.release("b")  # its sizes are known now
    m.use("a")
    others = raw.create_mem(p.models[0].ctx, raw.npu.capacity - raw.npu.live - (200 << 10))
    assert others
    m.use("b")
    assert [x.name for x in m.models.values() if x.ready] == ["b"]
    m.release_all()
