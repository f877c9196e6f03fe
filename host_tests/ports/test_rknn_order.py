# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The order of release, twice: the RKNN stand-in punishes who breaks it, and our port does not
break it."""

from __future__ import annotations

import pytest
from devtest import raises
from maixmem import NoRoom
from maixmem_linux import process
from rknn_raw import OUTSIDE, PAGE, Block, Crash, Raw, answer, small


def test_destroy_twice_dies(boards):
    raw = Raw()
    ctx = raw.init(small("a"))[1]
    assert raw.destroy(ctx) == 0
    with pytest.raises(Crash, match="SIGSEGV: rknn_destroy"):
        raw.destroy(ctx)
    raw, p = boards()
    model = p.load(small("a"))
    ctx = model.ctx
    p.unload(model)
    p.unload(model)  # harmless
    with pytest.raises(ValueError, match="not ours, or destroyed"):
        p.lib.destroy(ctx)
    with pytest.raises(ValueError, match="was unloaded"):
        model.run(bytes(64))


def test_memories_outlive_their_context(boards):
    raw = Raw()
    ctx = raw.init(small("a"), OUTSIDE)[1]
    mem, weights = raw.create_mem(ctx, PAGE), raw.create_mem(ctx, 8192)
    raw.set_weight_mem(ctx, weights)
    raw.destroy(ctx)
    assert raw.npu.live == PAGE + 8192 and len(raw.runtime.leaks()) == 2
    assert raw.destroy_mem(ctx, mem) == 0 and raw.npu.live == PAGE + 8192  # says 0, frees nothing
    with pytest.raises(Crash, match="SIGBUS"):
        raw.destroy_mem(ctx, weights)
    raw, p = boards()
    for how in ({}, {"shared": False}, {"dup": True}):
        p.unload(p.load(small("a"), **how))
        assert raw.npu.live == 0 and raw.runtime.leaks() == []


def test_a_memory_is_destroyed_once(boards):
    raw, p = boards()
    ctx = raw.init(small("a"))[1]
    mem = raw.create_mem(ctx, PAGE)
    raw.destroy_mem(ctx, mem)
    with pytest.raises(Crash, match="memory that is gone"):
        raw.destroy_mem(ctx, mem)
    raw, p = boards()
    ctx = p.load(small("a")).ctx
    mem = p.lib.create_mem(ctx, PAGE)
    for _ in range(2):
        p.lib.release([(ctx, mem)])
    with pytest.raises(ValueError, match="was released"):
        p.lib.set_internal(ctx, mem, 1)


def test_memory_made_with_a_model_outlives_who_works_in_it(boards):
    """The end of the model that a Block was made with would end the process of who runs in it."""
    raw, p = boards()
    maker, user = p.load(small("maker"), dup=True), p.load(small("user"))
    mem = p.create(maker.ctx, 65536)
    for block in (Block.of(mem), Block(mem.contents.virt, 65536, fd=mem.contents.fd)):
        user.inputs[0].attach(block)
        with pytest.raises(ValueError, match="works in memory that was made with"):
            p.unload(maker)
        assert user.run(b"q" * 64) == answer(small("user"), b"q" * 64)
    block = Block.of(mem)
    p.unload(user)
    p.unload(maker)
    other = p.load(small("other"))
    for late in (lambda: other.inputs[0].attach(block), lambda: Block.of(mem)):
        with pytest.raises(ValueError, match="went with the model"):
            late()
    with pytest.raises(ValueError, match="not ours, or destroyed"):
        p.create(maker.ctx, 4096)
    p.unload(other)
    assert (raw.npu.live, p.used) == (0, 0)


def test_a_view_of_what_is_replaced(boards):
    """attach() gives the memory back that slices of views still look at: not while they do."""
    raw, p = boards()
    maker, user = p.load(small("maker"), dup=True), p.load(small("user"))
    block = Block.of(p.create(maker.ctx, 65536))
    with user:
        part = user.inputs[0].view()[:8]
    with pytest.raises(ValueError, match="views of"):
        user.inputs[0].attach(block)
    part[:] = bytes(8)
    del part
    user.inputs[0].attach(block)
    p.unload(user)
    p.unload(maker)


def test_out_of_file_descriptors_is_said_as_that(boards, monkeypatch):
    raw, p = boards()
    open_now = [1000]
    monkeypatch.setattr(process, "descriptors", lambda: (1024, open_now[0]))
    p.unload(p.load(small("a")))
    open_now[0] = 1012
    e = raises(NoRoom, p.load, small("a"))
    assert e.region == "files" and e.free == 12 and "12 of 1024 are free" in str(e)
    files = [r for r in p.regions() if r.name == "files"][0]
    assert (files.total, files.used, files.free) == (1024, 1012, 12)
    assert (raw.npu.live, p.used) == (0, 0)


def test_a_port_closes(boards):
    """Whatever order its models came in: duplicates, shared weights, blocks of one in another."""
    raw, p = boards()
    with p:
        first = p.load(small("a"), dup=True)
        twin = p.dup(first)
        p.load(small("b")).inputs[0].attach(Block.of(p.create(twin.ctx, 65536)))
        p.load(small("c"))
    assert (raw.npu.live, p.used, p.models) == (0, 0, [])
    p.unload(p.load(small("a")))
    p.close()
