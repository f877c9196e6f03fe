# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Each rule of the RKNN runtimes twice: the stand-in punishes who breaks it, and our port does not
break it."""

from __future__ import annotations

import ctypes
import gc

import pytest
from devtest import raises
from maixmem import KModelError, NoRoom
from maixmem_rknn import RknnError, librknnrt
from maixmem_rknn.api import pages
from rknn_raw import (
    INFO_ONLY,
    INTERNAL_OUTSIDE,
    MULTI,
    OUTSIDE,
    PAGE,
    SEGMENT,
    Block,
    Crash,
    Raw,
    answer,
    api,
    rknn_model,
    small,
)

MULTI_INPUTS = (bytes(range(256)) * 42 + bytes(48), b"\x07" * 4096)  # 60*60*3 packed, 64*64


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


def test_error_texts_have_code_name_and_next_step(boards, monkeypatch):
    raw, p = boards()
    monkeypatch.setattr(librknnrt, "has_driver", lambda: True)
    raw.runtime.faults.fail(1, -3)
    e = raises(KModelError, p.load, small("a"))
    assert e.code == -3 and ": -3 RKNN_ERR_DEVICE_UNAVAILABLE: " in str(e)
    assert "Next: lsmod or dmesg for rknpu" in str(e) and p.advise(e) in str(e)
    assert str(RknnError("x", -99)).startswith("x: -99 unknown") and not p.advise(OSError(5))


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
        0,
    )
    counts = api.Counts(7, 7)
    assert raw.query(ctx, 0, ctypes.byref(counts), 8) == 0 and (counts.inputs, counts.outputs) == (
        0,
        0,
    )
    assert raw.run(ctx, None) == -1
    assert raw.destroy(ctx) == 0 and raw.npu.live == 0
    p.inspect(SEGMENT)  # asks by the flag of the load: inputs and outputs are told then
    assert (raw.npu.live, raw.npu.peak) == (0, pages(len(SEGMENT)))  # more than 69632 + 2347008


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


def test_a_failed_init_keeps_its_memory_until_destroyed():
    raw = Raw(capacity=1 << 20)
    code, ctx = raw.init(SEGMENT)  # no room for the model itself
    assert code == -6 and ctx != 0 and raw.npu.live == 69632
    assert raw.destroy(ctx) == 0 and raw.npu.live == 0
    raw = Raw(capacity=4 << 20)
    code, ctx = raw.init(SEGMENT)  # none for its internal memory
    assert code == -4 and ctx != 0 and raw.npu.live == 69632 + 2347008
    with pytest.raises(Crash, match="init ran out of memory"):
        raw.destroy(ctx)
    with pytest.raises(Crash):  # the process is dead
        raw.init(small("a"))


@pytest.mark.parametrize("version", ["1.4.0", "1.5.0", "1.5.2", "1.6.0"])
def test_what_init_does_without_memory_for_each_piece(version):
    """As measured with two models, of containers 2 and 6: (code, bytes that it keeps) or None
    where the process ends."""
    newer = version >= "1.5.2"
    refused = -1 if version == "1.4.0" else -6
    kept = [(refused, 0), (0 if newer else -4, 16384), (0 if newer else -4, 36864)]
    cases = {("multi_1.5", OUTSIDE): kept}
    if newer:
        cases["multi_1.5", INTERNAL_OUTSIDE] = [(-6, 0), (0, 20480), (0, 40960)]
        cases["segment", INTERNAL_OUTSIDE] = [None, (-6, 69632)]
        cases["segment", OUTSIDE] = [None, None, (-6, 708608)]
    for (name, flag), rows in cases.items():
        for k, row in enumerate(rows):
            raw = Raw(version=version)
            take, before = raw.npu.take, iter([True] * k)
            raw.npu.take = lambda *piece: take(*piece) if next(before, False) else None
            if row is None:
                raises(Crash, raw.init, rknn_model.measured(name), flag)
            else:
                assert (raw.init(rknn_model.measured(name), flag)[0], raw.npu.live) == row


@pytest.mark.parametrize("version", ["1.5.2", "1.6.0"])
@pytest.mark.parametrize("k", [1, 2])
def test_a_model_that_init_calls_loaded_without_all_its_memory_is_not_handed_out(desk, version, k):
    """rknn_init returns 0 and rknn_run would too: its sum of bytes alone tells that a piece is
    missing."""
    data = rknn_model.measured("multi_1.5")
    raw = Raw(version=version)
    p = raw.plug()
    need = p.inspect(data)
    faults = raw.runtime.faults
    faults.clear()
    p.unload(p.load(data))
    pieces = [i for i, name in enumerate(faults.names, 1) if name.startswith("alloc ")]
    faults.clear()
    faults.fail(pieces[k], -4)
    e = raises(NoRoom, p.load, data)
    assert "the runtime says that it is loaded, but holds" in str(e) and "unload a model" in str(e)
    assert e.need == 37320 and e.free < e.need
    faults.clear()
    assert raw.npu.live == p.used == 0 and not p.models and not raw.runtime.contexts()
    model = p.load(data)
    assert model.run(bytes(16384), bytes(49152)) == answer(data, bytes(16384), bytes(49152))
    assert p.inspect(data).need == need.need


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
    assert e.region == "npu" and e.free == 4 << 20
    # what the runtime counts and two pages, the shared block, the input, the output
    assert e.need == 2416640 - 4096 + 2 * PAGE + 3022848 + 110592 + 294912
    assert str(e.need) in str(e) and str(e.free) in str(e) and "unload a model" in str(e)
    assert raw.npu.live == 0 and raw.runtime.faults.count == before


def test_the_port_honours_its_budget(boards):
    raw, p = boards(budget=4 << 20)
    text = "5001216 bytes of NPU memory at least, the budget is 4194304"
    assert p.inspect(SEGMENT).refuse == text
    p.load(MULTI)
    assert p.room("npu") == (4 << 20) - p.used + 1114112
    regions = {r.name: r for r in p.regions()}
    assert (
        regions["npu"].total == 4 << 20
        and regions["npu"].used == p.used
        and not regions["npu"].exact
    )
    assert (regions["arena"].total, regions["arena"].used) == (1114112, 1114112)


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
        with pytest.raises(ValueError, match="4096 bytes at 0; the model needs 4097"):
            call(ctx, mem, 4097)
        with pytest.raises(ValueError, match="at 4; the model needs"):
            call(ctx, p.lib.view(ctx, mine, PAGE, 4), PAGE)
        with pytest.raises(ValueError, match="did not make"):
            call(ctx, ctypes.pointer(api.TensorMem(size=9999999)), 1)
    for nbytes, offset in ((3 * PAGE + 1, 0), (PAGE, 2 * PAGE + 1), (1, -1), (0, 0)):
        with pytest.raises(ValueError, match="which has 12288"):
            p.lib.view(ctx, mine, nbytes, offset)
    with pytest.raises(ValueError, match=r"at \d+; the model needs"):
        phys = Block(block.virt, 3 * PAGE, phys=block.phys)
        p.lib.set_internal(ctx, p.lib.view(ctx, phys, PAGE, 4), PAGE)
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
