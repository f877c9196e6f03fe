# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""RKNN: what a careless or unlucky program may do to our port besides breaking the runtime's rules."""

from __future__ import annotations

import ctypes
import os
import pickle
import runpy

import paths
import pytest
from devtest import raises
from rknn_raw import PAGE, Block, answer, api, boards_fixture, desk_fixture, in_threads, small


def test_wrong_layouts_stop_the_import(monkeypatch):
    real = ctypes.sizeof
    monkeypatch.setattr(
        ctypes, "sizeof", lambda t: real(t) + (getattr(t, "__name__", "") == "MemSize")
    )
    e = raises(ImportError, runpy.run_path, str(paths.LIB / "maixmem_rknnapi.py"))
    assert "MemSize" in str(e) and "65 bytes here, 64 in rknn_api.h" in str(e)


def test_descriptors_that_are_no_npu_memory(boards, tmp_path):
    """A plain file: the full runtime makes a memory of it whose address is nonsense. A pipe tells no size."""
    raw, p = boards()
    model = p.load(small("a"))
    live = raw.npu.live
    file = tmp_path / "plain"
    file.write_bytes(bytes(PAGE))
    with open(file, "rb") as f:
        e = raises(api.RknnError, model.inputs[0].attach, Block(4096, PAGE, fd=f.fileno()))
    assert str(e).endswith("-4 RKNN_ERR_MALLOC_FAIL")
    ends = os.pipe()
    try:
        raises(api.RknnError, model.inputs[0].attach, Block(4096, PAGE, fd=ends[0]))
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
    """Whether the runtime runs without was not measured: it gets a page where it must be given something."""
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
    p.version = "2.3.2 (429f97ae6b), driver 0.9.8"
    assert "2.3.2" in p.warnings()[0] and "measured on 1.5.2" in p.warnings()[0]
