# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Each rule of the RKNN runtimes twice: the stand-in punishes who breaks it, and our port does not break it."""

from __future__ import annotations

import ctypes
import gc
import threading

import maixmem_generic
import pytest
from devtest import raises
from maixmem import KModelError, NoRoom
from rknn_raw import MULTI, PAGE, SEGMENT, Block, Crash, Raw, answer, api, port, rknn_model, small

OUTSIDE, SHARE_WEIGHT, INFO_ONLY, INTERNAL_OUTSIDE = 0x10, 0x20, 0x100, 0x200
MULTI_INPUTS = (bytes(range(256)) * 42 + bytes(48), b"\x07" * 4096)  # 60*60*3 packed, 64*64
RV1106 = {"targets": ("rv1106",)}


@pytest.fixture
def boards(monkeypatch):
    """make(profile, capacity, **options) -> (raw view of a board, our port on it)."""

    def make(profile="rk3588", capacity=64 << 20, **options):
        raw = Raw(profile, capacity)
        monkeypatch.setattr(maixmem_generic, "meminfo", raw.lib.meminfo)
        return raw, port.Port(raw.lib, soc=raw.runtime.profile.soc, **options)

    return make


# --- page rounding, resident files: test_rknn_peaks.py ---


def test_memory_is_taken_in_pages(boards):
    raw, p = boards()
    ctx = raw.init(small("a"), 0)[1]
    before = raw.npu.live
    assert raw.create_mem(ctx, 1) and raw.npu.live == before + PAGE
    assert not raw.create_mem(ctx, 0) and not raw.create_mem(0, 100)
    with pytest.raises(ValueError, match="must be 1 to"):
        p.lib.create_mem(ctx, 0)


# --- codes ---


def test_codes_of_what_is_refused(tmp_path):
    raw = Raw()
    model = (ctypes.c_ubyte * 64)()
    assert raw.lib.rknn_init(None, model, 64, 0, None) == -7
    assert raw.lib.rknn_init(api.Handle(), None, 0, 0, None) == -6
    for wrong in (bytes(4096), str(tmp_path / "missing.rknn"), small("a", targets=("rk3566",))):
        code, ctx = Raw().init(wrong)
        assert code == -6 and ctx != 0
    assert raw.destroy(0) == -7
    ctx = raw.init(small("a"))[1]
    assert raw.set_internal_mem(0, raw.create_mem(ctx, 10)) == -7
    assert raw.set_internal_mem(ctx, None) == -5
    assert raw.query(ctx, 1, ctypes.byref(api.TensorAttr(index=9)), 376) == -5


def test_a_wrong_chip_is_named_by_the_runtime_and_refused_by_the_port(boards):
    raw, p = boards()
    wrong = small("a", targets=("rk3566",))
    assert raw.init(wrong)[0] == -6
    assert raw.runtime.log[-1] == "This rknn model is for RK3566, but current platform is RK3588"
    raw, p = boards()
    assert "for rk3566, this chip is rk3588" in p.inspect(wrong).refuse
    e = raises(KModelError, p.load, wrong)
    assert "target_platform='rk3588'" in str(e)
    assert raw.runtime.faults.count == 0  # the runtime was never asked


def test_error_texts_end_with_code_and_name(boards):
    raw, p = boards()
    raw.runtime.faults.fail(1, -3)
    e = raises(api.RknnError, p.load, small("a"))
    assert e.code == -3 and str(e).endswith(": -3 RKNN_ERR_DEVICE_UNAVAILABLE")
    assert str(api.RknnError("x", -99)) == "x: -99 unknown"


# --- the info-only flag ---


def test_info_only(boards):
    raw, p = boards()
    code, ctx = raw.init(SEGMENT, INFO_ONLY)
    size = raw.mem_size(ctx)
    assert (code, size.weight, size.internal, size.dma, raw.npu.live) == (
        0,
        1572288,
        3022848,
        0,
        2740224,
    )
    counts = api.Counts(7, 7)
    assert raw.query(ctx, 0, ctypes.byref(counts), 8) == 0 and (counts.inputs, counts.outputs) == (
        0,
        0,
    )
    assert raw.run(ctx, None) == -1
    assert raw.destroy(ctx) == 0 and raw.npu.live == 0
    p.inspect(SEGMENT)
    assert (raw.npu.live, raw.npu.peak) == (0, 2740224)


def test_sram_is_reported_only_where_the_driver_does(boards):
    for profile, total in (("rk3588", 0), ("rk3588-sram", 978944), ("rv1106", 0)):
        raw, p = boards(profile)
        dirty = api.MemSize()
        ctypes.memset(ctypes.byref(dirty), 0xEE, 64)
        data = small("a", targets=(raw.runtime.profile.soc,))
        ctx = raw.init(data)[1]
        assert raw.query(ctx, 6, ctypes.byref(dirty), 64) == 0
        assert dirty.sram == (total or 0xEEEEEEEE)  # not written at all
        p.load(data)
        assert p.sram == (total, total)
        assert [r.total for r in p.regions() if r.name == "sram"] == ([total] if total else [])


# --- failed init ---


def test_a_failed_init_keeps_its_memory_until_destroyed(tmp_path):
    raw = Raw(capacity=4 << 20)
    code, ctx = raw.init(SEGMENT)
    assert code == -4 and ctx != 0 and raw.npu.live == 69632 + 2347008
    assert raw.destroy(ctx) == 0 and raw.npu.live == 0
    code, ctx = raw.init(SEGMENT)
    with pytest.raises(Crash, match="second destroy after a failed init"):
        raw.destroy(ctx)
    with pytest.raises(Crash):  # the process is dead
        raw.init(small("a"))


def test_out_of_memory_while_a_file_is_read_is_a_bad_model(tmp_path):
    file = tmp_path / "a.rknn"
    file.write_bytes(SEGMENT)
    raw = Raw(capacity=1 << 20)
    assert raw.init(str(file))[0] == -6


def test_the_port_checks_the_room_before_init(boards):
    raw, p = boards(capacity=4 << 20)
    p.inspect(SEGMENT)
    before = raw.runtime.faults.count
    e = raises(NoRoom, p.load, SEGMENT)
    assert e.region == "npu" and e.free == 4 << 20 and e.need == 2740224 + 3022848
    assert str(e.need) in str(e) and str(e.free) in str(e) and "unload a model" in str(e)
    assert raw.npu.live == 0 and raw.runtime.faults.count == before


def test_the_port_honours_its_budget(boards):
    raw, p = boards(budget=5 << 20)
    assert "the budget is 5242880" in p.inspect(SEGMENT).refuse
    p.load(MULTI)
    assert p.room("npu") == (5 << 20) - p.used + 1114112
    regions = {r.name: r for r in p.regions()}
    assert (
        regions["npu"].total == 5 << 20
        and regions["npu"].used == p.used
        and not regions["npu"].exact
    )
    assert (regions["arena"].total, regions["arena"].used) == (1114112, 1114112)


def test_failed_inits_are_destroyed_once_and_then_counted(boards):
    raw, p = boards()
    data = small("a")
    p.inspect(data)
    for i in range(3):
        raw.runtime.faults.clear()
        raw.runtime.faults.fail(2, -4)  # alloc regs: rknn_init fails half-way
        e = raises(NoRoom, p.load, data)
        assert str(e).endswith("rknn_init with flag 0x200: -4 RKNN_ERR_MALLOC_FAIL")
        assert p.lib.abandoned == i and len(raw.runtime.contexts()) == i
    assert p.lib.lost > 0 and "restart" in p.warnings()[0]
    raw.runtime.faults.clear()
    model = p.load(data)
    assert model.run(bytes(64)) == answer(data, bytes(64))


# --- internal memory that nobody checks ---


def internal_of(raw, ctx, need, kind):
    """A wrong internal memory of one kind."""
    block = raw.create_mem(ctx, need + PAGE).contents
    if kind == "too small":
        return raw.create_mem(ctx, 4096)
    if kind == "offset 4":
        return raw.create_mem_from_fd(ctx, block.fd, block.virt, need, 4)
    if kind == "beyond the fd":
        return raw.create_mem_from_fd(ctx, block.fd, block.virt, need + 9 * PAGE, 9 * PAGE)
    if kind == "bad fd":
        mem = raw.create_mem_from_fd(ctx, 9999, block.virt, need, 0)
        assert mem.contents.phys == 0xFFFFFFFFFFFFFFFF
        return mem
    made = api.TensorMem(virt=block.virt, phys=block.phys, fd=block.fd, size=need)
    raw.buffers.append(made)
    return ctypes.pointer(made)


@pytest.mark.parametrize("kind", ["too small", "offset 4", "beyond the fd", "bad fd", "hand-made"])
def test_a_wrong_internal_memory_is_accepted_and_corrupts(kind):
    data = small("a")
    raw = Raw()
    ctx = raw.init(data, INTERNAL_OUTSIDE)[1]
    raw.attach_io(ctx)
    assert raw.set_internal_mem(ctx, internal_of(raw, ctx, 65536, kind)) == 0
    with pytest.raises(Crash, match="corrupt: internal memory"):
        raw.run(ctx, None)
    raw = Raw(strict=False)
    ctx = raw.init(data, INTERNAL_OUTSIDE)[1]
    mems = raw.attach_io(ctx)
    raw.set_internal_mem(ctx, internal_of(raw, ctx, 65536, kind))
    assert raw.run(ctx, None) == 0  # says nothing, and the result is wrong
    assert ctypes.string_at(mems[1].contents.virt, 32) != answer(data, bytes(64))[0]


def test_the_port_checks_internal_and_weight_memory(boards):
    raw, p = boards()
    ctx = p.lib.init((ctypes.c_ubyte * len(SEGMENT)).from_buffer_copy(SEGMENT), OUTSIDE)
    mem = p.lib.create_mem(ctx, 4096)
    block = raw.runtime.dma_alloc(3 * PAGE)
    mine = Block(block.virt, 3 * PAGE, fd=block.fd)
    for call in (p.lib.set_internal, p.lib.set_weight):
        with pytest.raises(ValueError, match="4096 bytes at offset 0; the model needs 4097"):
            call(ctx, mem, 4097)
        with pytest.raises(ValueError, match="at offset 4; the model needs"):
            call(ctx, p.lib.view(ctx, mine, PAGE, 4), PAGE)
        with pytest.raises(ValueError, match="did not make"):
            call(ctx, ctypes.pointer(api.TensorMem(size=9999999)), 1)
    for nbytes, offset in ((3 * PAGE + 1, 0), (PAGE, 2 * PAGE + 1), (1, -1), (0, 0)):
        with pytest.raises(ValueError, match="which has 12288"):
            p.lib.view(ctx, mine, nbytes, offset)
    with pytest.raises(ValueError, match="fd 9999 is not a memory"):
        p.lib.view(ctx, Block(block.virt, PAGE, fd=9999), PAGE)
    with pytest.raises(ValueError, match="a block needs"):
        Block(0, PAGE, fd=3)
    raw.npu.free(block)


# --- flag 0x10 ---


def test_weights_need_the_flag_and_internal_memory_does_not(boards):
    raw = Raw()
    ctx = raw.init(small("a"), 0)[1]
    live = raw.npu.live
    assert raw.set_weight_mem(ctx, raw.create_mem(ctx, 8192)) == -5
    assert raw.runtime.log[-1] == "Must set RKNN_FLAG_MEM_ALLOC_OUTSIDE"
    assert raw.set_internal_mem(ctx, raw.create_mem(ctx, 65536)) == 0
    assert raw.npu.live == live + 8192  # the runtime's own internal block went
    raw, p = boards()
    p.load(small("a"))
    p.load(small("b"), shared=False)
    p.load(small("c"), dup=True)
    assert not any("Must set" in line for line in raw.runtime.log)


def test_a_small_weight_memory_is_overrun(boards):
    raw = Raw()
    ctx = raw.init(small("a"), OUTSIDE)[1]
    raw.attach_io(ctx)
    assert raw.set_weight_mem(ctx, raw.create_mem(ctx, 4096)) == 0
    raw.set_internal_mem(ctx, raw.create_mem(ctx, 65536))
    with pytest.raises(Crash, match="corrupt: weight memory is smaller than 8192"):
        raw.run(ctx, None)


@pytest.mark.parametrize("given", ["nothing", "weights", "internal"])
def test_a_run_before_the_memory_is_set_dies(given):
    raw = Raw()
    ctx = raw.init(small("a"), OUTSIDE)[1]
    raw.attach_io(ctx)
    if given == "weights":
        raw.set_weight_mem(ctx, raw.create_mem(ctx, 8192))
    if given == "internal":
        raw.set_internal_mem(ctx, raw.create_mem(ctx, 65536))
    with pytest.raises(Crash, match="SIGSEGV: rknn_run without"):
        raw.run(ctx, None)


@pytest.mark.parametrize("how", [{}, {"shared": False}, {"dup": True}])
@pytest.mark.parametrize("source", [small("a"), MULTI], ids=["small", "measured"])
def test_what_the_port_loads_runs(boards, how, source):
    raw, p = boards()
    inputs = MULTI_INPUTS if source is MULTI else (bytes(64),)
    model = p.load(source, **how)
    out = model.run(*inputs)
    padded = (
        [b"".join(row(inputs[0], y) for y in range(60)), inputs[1]] if source is MULTI else inputs
    )
    assert out == answer(source, *padded)
    p.unload(model)
    assert raw.npu.live == 0


def row(data, y):
    """Row y of a 60 pixel wide image in a width stride of 64."""
    return data[y * 180 : y * 180 + 180] + bytes(12)


def test_the_model_buffer_must_outlive_set_weight():
    raw = Raw()
    ctx = raw.init(small("a"), OUTSIDE)[1]
    mem = raw.create_mem(ctx, 8192)
    del raw.buffers[:]
    gc.collect()
    with pytest.raises(Crash, match="model buffer was freed before rknn_set_weight_mem"):
        raw.set_weight_mem(ctx, mem)
    for flag in (0, INTERNAL_OUTSIDE):  # these may free it at once
        raw = Raw()
        raw.init(small("a"), flag)
        del raw.buffers[:]


def test_the_port_keeps_the_buffer_that_long(boards, tmp_path):
    """From a file, so that nothing but the port holds the bytes."""
    file = tmp_path / "a.rknn"
    file.write_bytes(small("a"))
    for profile, how in (("rk3588", {"dup": True}), ("rv1106", {})):
        raw, p = boards(profile)
        file.write_bytes(small("a", targets=(raw.runtime.profile.soc,)))
        model = p.load(str(file), **how)
        assert raw.runtime.contexts()[-1].weighed and raw.runtime.contexts()[-1].buffer is None
        model.run(bytes(64))


# --- order of release ---


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


def test_the_port_on_a_mini_chip(boards):
    raw, p = boards("rv1106", capacity=1 << 20)
    big, tiny = small("big", internal=200000, **RV1106), small("tiny", **RV1106)
    first, second = p.load(big), p.load(tiny)
    assert p.arena.size == 200000 and raw.npu.by_kind().get("internal") is None
    assert raw.npu.by_kind().get("weights") is None  # its own copies went
    assert first.run(bytes(64)) == answer(big, bytes(64)) and second.run(b"1" * 64) == answer(
        tiny, b"1" * 64
    )
    assert {c.flag for c in raw.runtime.contexts()} == {OUTSIDE}
    assert "missing on RV1103" in p.inspect(tiny, dup=True).refuse
    assert "shared weights need" in p.inspect(tiny, master=first).refuse
    p.unload(first)  # owns the block: its bare context stays until the block goes
    assert len(raw.runtime.contexts()) == 2 and p.arena.late_bytes > 0
    assert second.run(b"2" * 64) == answer(tiny, b"2" * 64)
    p.unload(second)
    assert (raw.npu.live, p.used, raw.runtime.contexts()) == (0, 0, [])
    assert [r.name for r in p.regions()][1] == "cma"


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
    with pytest.raises(RuntimeError, match="only inside its turn"):
        a.outputs[0].view()
    with pytest.raises(RuntimeError, match="only inside its turn"):
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


def in_threads(calls):
    """Runs the calls in threads at once; returns the exceptions."""
    errors = []

    def body(call):
        try:
            call()
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=body, args=(call,)) for call in calls]
    for t in threads:
        t.start()
    for t in threads:
        t.join(20)
    assert not any(t.is_alive() for t in threads)
    return errors


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
    big, little = small("320", weight=81920), small("160", weight=81920, internal=30000)
    master = p.load(big)
    before = raw.npu.live
    slaves = [p.load(little, master=master) for _ in range(2)]
    assert raw.npu.live - before < 81920  # two more resolutions for less than one set of weights
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
