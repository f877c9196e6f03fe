# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""RKNN on small chips and among several models: the mini runtime, turns, dup, shared weights,
memory of the caller."""

from __future__ import annotations

import ctypes

import pytest
from devtest import raises
from maixmem import KModelError, NoRoom
from rknn_raw import (
    INTERNAL_OUTSIDE,
    MULTI,
    OUTSIDE,
    PAGE,
    SEGMENT,
    SHARE_WEIGHT,
    Block,
    Crash,
    Raw,
    answer,
    api,
    in_threads,
    port,
    small,
)

RV1106 = {"targets": ("rv1106",)}


# --- the mini runtime of RV1103 and RV1106 ---


def test_mini_codes_and_order():
    raw = Raw("rv1106")
    data = small("a", **RV1106)
    ctx = raw.init(data, INTERNAL_OUTSIDE)[1]
    block = raw.create_mem(ctx, 65536)
    assert raw.set_internal_mem(ctx, block) == -1  # 0x200 alone is not enough here
    assert raw.set_weight_mem(ctx, block) == -1
    ctx = raw.init(data, OUTSIDE)[1]
    made = api.TensorMem(size=65536)
    assert raw.set_internal_mem(ctx, ctypes.pointer(made)) == -1
    assert raw.runtime.log[-1] == "please use rknn_tensor_mem from rknn_create_mem"
    assert not raw.create_mem_from_fd(ctx, 9999, None, 100, 0)
    assert raw.run(ctx, None) == -1
    assert raw.dup_context(api.Handle(ctx), api.Handle()) == -1
    attr = raw.attr(ctx, False)
    assert raw.set_io_mem(ctx, raw.create_mem(ctx, 65), attr) == -1  # larger is refused
    assert raw.set_io_mem(ctx, raw.create_mem(ctx, 63), attr) == -1
    assert raw.set_io_mem(ctx, raw.create_mem(ctx, 64), attr) == 0
    assert raw.set_internal_mem(ctx, raw.create_mem(ctx, 65536)) == -1
    assert raw.runtime.log[-1] == "You must call rknn_set_internal_mem before rknn_set_io_mem!"
    size = api.MemSize()
    assert raw.query(ctx, 6, ctypes.byref(size), 8) == 0 and size.weight == 8192


def test_the_full_runtime_takes_larger_io_and_runs_without_any():
    raw = Raw()
    ctx = raw.init(small("a"))[1]
    attr = raw.attr(ctx, False)
    assert raw.run(ctx, None) == 0
    assert raw.set_io_mem(ctx, raw.create_mem(ctx, 65), attr) == 0
    assert raw.set_io_mem(ctx, raw.create_mem(ctx, 63), attr) == -1
    assert raw.runtime.log[-1] == "input memory size(63) < model input size(64)"
    assert raw.query(ctx, 6, ctypes.byref(api.MemSize()), 8) == -5


def test_mini_frees_its_copy_of_the_weights():
    raw = Raw("rv1106")
    ctx = raw.init(small("a", weight=40960, **RV1106), OUTSIDE)[1]
    mem = raw.create_mem(ctx, 40960)
    before = raw.npu.live
    assert raw.set_weight_mem(ctx, mem) == 0 and raw.npu.live == before - 40960
    raw.set_internal_mem(ctx, raw.create_mem(ctx, 65536))
    assert raw.run(ctx, None) == -1 and raw.runtime.log[-1] == "tensor not attached"


def test_the_port_on_a_mini_chip(boards, plain_python):
    raw, p = boards("rv1106", capacity=1 << 20)
    big, tiny = small("big", internal=200000, **RV1106), small("tiny", **RV1106)
    first, second = p.load(big), p.load(tiny)
    assert p.arena.size == 200000 and raw.npu.by_kind().get("internal") is None
    assert raw.npu.by_kind().get("weights") is None  # its own copies went
    assert first.run(bytes(64)) == answer(big, bytes(64)) and second.run(b"1" * 64) == answer(
        tiny, b"1" * 64
    )
    assert {c.flag for c in raw.runtime.contexts()} == {OUTSIDE}
    assert "cannot duplicate a context" in p.inspect(tiny, dup=True).refuse
    assert "shared weights need" in p.inspect(tiny, master=first).refuse
    p.unload(first)  # owns the block: its bare context stays until the block goes
    assert len(raw.runtime.contexts()) == 2 and p.arena.deferred_bytes > 0
    assert second.run(b"2" * 64) == answer(tiny, b"2" * 64)
    p.unload(second)
    assert (raw.npu.live, p.used, raw.runtime.contexts()) == (0, 0, [])
    assert [r.name for r in p.regions()] == ["ram", "cma", "npu", "process", "files"]


def test_the_block_cannot_grow_on_a_mini_chip(boards):
    raw, p = boards("rv1106")
    tiny, big = small("tiny", **RV1106), small("big", internal=200000, **RV1106)
    first = p.load(tiny)
    e = raises(NoRoom, p.load, big)
    assert (
        e.region == "arena"
        and (e.need, e.free) == (200000, 65536)
        and "Port(reserve=200000)" in str(e)
    )
    assert first.run(bytes(64)) == answer(tiny, bytes(64))
    raw, p = boards("rv1106", reserve=200000)
    p.load(tiny)
    assert p.load(big).run(bytes(64)) == answer(big, bytes(64))


# --- turns ---


def test_running_b_ruins_what_a_left():
    raw = Raw()
    contexts, outputs = [], []
    for name in "ab":
        ctx = raw.init(small(name), INTERNAL_OUTSIDE)[1]
        if not contexts:
            block = raw.create_mem(ctx, 65536)
        view = raw.create_mem_from_fd(ctx, block.contents.fd, block.contents.virt, 65536, 0)
        raw.set_internal_mem(ctx, view)
        outputs.append(raw.attach_io(ctx)[1].contents)
        contexts.append(ctx)
    raw.run(contexts[0], None)
    left = ctypes.string_at(outputs[0].virt, 32)
    assert left == answer(small("a"), bytes(64))[0]
    raw.run(contexts[1], None)
    assert ctypes.string_at(outputs[0].virt, 32) == b"\xdb" * 32


def test_the_port_copies_before_the_turn_ends(boards):
    raw, p = boards()
    a, b = p.load(small("a")), p.load(small("b", internal=100000))
    first = a.run(b"x" * 64)
    b.run(bytes(64))
    assert first == answer(small("a"), b"x" * 64)
    with a:
        a.inputs[0].write(b"y" * 64)
        a.execute()
        view = a.outputs[0].view()
        with pytest.raises(RuntimeError, match="leave its with block before"):
            b.run(bytes(64))
        with pytest.raises(RuntimeError, match="leave its with block before"):
            p.load(small("c"))
        with pytest.raises(RuntimeError, match="leave its with block before"):
            p.unload(a)
        with a:
            assert bytes(view) == answer(small("a"), b"y" * 64)[0]
        assert bytes(view)
    with pytest.raises(ValueError):
        bytes(view)  # it ended with the turn
    with pytest.raises(RuntimeError, match="only inside its with block"):
        a.outputs[0].view()
    with pytest.raises(RuntimeError, match="only inside its with block"):
        a.execute()


def test_two_at_a_time_in_one_block_corrupt():
    raw = Raw()
    raw.runtime.run_seconds = 0.05
    contexts = []
    for name in "ab":
        ctx = raw.init(small(name), INTERNAL_OUTSIDE)[1]
        if not contexts:
            block = raw.create_mem(ctx, 65536)
        raw.set_internal_mem(
            ctx, raw.create_mem_from_fd(ctx, block.contents.fd, block.contents.virt, 65536, 0)
        )
        raw.attach_io(ctx)
        contexts.append(ctx)
    assert "at the same time" in str(in_threads([lambda c=c: raw.run(c, None) for c in contexts]))


def test_threads_take_turns(boards):
    raw, p = boards()
    raw.runtime.run_seconds = 0.002
    models = [p.load(small(name, internal=65536 * (i + 1))) for i, name in enumerate("abc")]

    def use(i):
        for n in range(10):
            data = bytes([i, n]) * 32
            assert models[i].run(data) == answer(small("abc"[i]), data)

    assert in_threads([lambda i=i: use(i) for i in range(3)] * 2) == []


# --- one model for several threads, one set of weights for several resolutions ---


def test_dup_needs_the_flag_and_defers_the_first():
    raw = Raw()
    ctx = raw.init(small("a"), 0)[1]
    with pytest.raises(Crash, match="without MEM_ALLOC_OUTSIDE"):
        raw.dup_context(api.Handle(ctx), api.Handle())
    raw = Raw()
    first = raw.init(SEGMENT, OUTSIDE)[1]
    live = raw.npu.live
    twin = api.Handle()
    assert raw.dup_context(api.Handle(first), twin) == 0
    assert raw.npu.live == live + sum(-(-n // PAGE) * PAGE for n in (636480, 68880, 66048))
    taken = raw.npu.live
    assert raw.destroy(first) == 0 and raw.npu.live == taken  # waits for the twin
    assert raw.destroy(twin.value) == 0 and raw.npu.live == 0


def test_the_port_dups(boards):
    raw, p = boards()
    raw.runtime.run_seconds = 0.01
    first = p.load(small("a"), dup=True)
    twins = [p.dup(first) for _ in range(2)]
    live = raw.npu.live
    assert (
        raw.npu.by_kind()["mem"] < 3 * 8192 + 3 * 65536 + 6 * PAGE
    )  # one set of weights, three of the rest
    calls = [lambda m=m: [m.run(bytes([n]) * 64) for n in range(5)] for m in [first] + twins]
    assert in_threads(calls) == []
    assert twins[0].run(bytes(64)) == answer(small("a"), bytes(64))
    e = raises(ValueError, p.unload, first)
    assert "2 models work on the weights" in str(e)
    assert raw.npu.live == live and p.used > 0
    for twin in twins:
        p.unload(twin)
    p.unload(first)
    assert (raw.npu.live, p.used) == (0, 0)
    with pytest.raises(ValueError, match="load it with dup=True"):
        p.dup(p.load(small("a")))


def test_shared_weights_need_a_living_master():
    raw = Raw()
    data = small("slave", blob=11000)
    code, ctx = raw.init(data, SHARE_WEIGHT)
    assert code == -5 and ctx != 0 and raw.npu.live > 0  # after everything was allocated
    raw.destroy(ctx)
    raw = Raw()
    master = raw.init(data)[1]
    slave = raw.init(data, SHARE_WEIGHT, master)[1]
    raw.attach_io(slave)
    raw.destroy(master)
    with pytest.raises(Crash, match="master of shared weights is gone"):
        raw.run(slave, None)


def test_the_port_keeps_the_master(boards):
    raw, p = boards()
    big, little = small("320", weight=81920), small("160", weight=81920, internal=30000, blob=3000)
    master = p.load(big)
    before = raw.npu.live
    slaves = [p.load(little, master=master) for _ in range(2)]
    more = raw.npu.live - before - raw.npu.by_kind()["internal"]  # which the runtime makes
    assert more < 81920  # two more resolutions for less than one set of weights
    with pytest.raises(ValueError, match="unload them first"):
        p.unload(master)
    assert slaves[0].run(bytes(64)) == answer(little, bytes(64))
    for model in [*slaves, master]:
        p.unload(model)
    assert raw.npu.live == 0
    assert "a loaded master" in p.inspect(little, master=master).refuse
    with pytest.raises(ValueError, match="exclude each other"):
        p.load(little, master=master, dup=True)


# --- memory of the caller ---


@pytest.mark.parametrize("by", ["fd", "phys"])
def test_external_memory(boards, by):
    """Inputs, outputs, weights and internal memory from another program's blocks."""
    raw, p = boards()
    data = small("a")

    def block(nbytes):
        b = raw.runtime.dma_alloc(nbytes)
        return b, Block(b.virt, b.taken, **({"fd": b.fd} if by == "fd" else {"phys": b.phys}))

    camera, frame = block(3 * PAGE)
    held, weights = block(8192)
    work, internal = block(65536)
    model = p.load(data, weights=weights, internal=internal)
    mine = raw.npu.by_kind()["mem"]
    assert mine == 2 * PAGE  # input and output only
    model.inputs[0].attach(frame, PAGE)
    model.outputs[0].attach(frame, 2 * PAGE)
    assert "mem" not in raw.npu.by_kind()
    ctypes.memset(camera.virt + PAGE, 0x41, 64)
    with model:
        model.execute()
    assert ctypes.string_at(camera.virt + 2 * PAGE, 32) == answer(data, b"A" * 64)[0]
    with pytest.raises(ValueError, match="which has"):
        model.inputs[0].attach(frame, 3 * PAGE - 8)
    p.unload(model)
    assert raw.npu.by_kind() == {"external": 3 * PAGE + 8192 + 65536}
    small_block = Block(
        held.virt, 4096, **({"fd": held.fd} if by == "fd" else {"phys": held.phys})
    )
    with pytest.raises(ValueError, match="which has 4096"):
        p.load(data, weights=small_block)
    assert raw.npu.by_kind() == {"external": 3 * PAGE + 8192 + 65536}


def test_an_arena_of_the_caller(boards):
    raw, p = boards()
    b = raw.runtime.dma_alloc(100000)
    p = port.Port(raw.lib, soc="rk3588", arena=Block(b.virt, 100000, fd=b.fd))
    models = [p.load(small("a")), p.load(small("b", internal=100000))]
    assert [m.run(bytes(64)) for m in models] == [
        answer(small("a"), bytes(64)),
        answer(small("b"), bytes(64)),
    ]
    assert raw.npu.by_kind()["mem"] == 4 * PAGE
    e = raises(KModelError, p.load, small("c", internal=100001))
    assert "100001 bytes of internal memory, the shared block has 100000" in str(e)
    for model in models:
        p.unload(model)
    assert raw.npu.by_kind() == {"external": 102400} and p.arena.size == 100000


def test_wrong_inputs_are_refused(boards):
    raw, p = boards()
    model = p.load(MULTI)
    assert [t.nbytes for t in model.inputs] == [60 * 64 * 3, 4096] and model.inputs[
        0
    ].packed == 60 * 60 * 3
    with pytest.raises(ValueError, match="10800 packed or 11520 with stride"):
        model.run(bytes(100), bytes(4096))
    with pytest.raises(ValueError, match="1 inputs given"):
        model.run(bytes(10800))
    assert model.run(bytes(11520), bytes(4096)) == answer(MULTI, bytes(11520), bytes(4096))
