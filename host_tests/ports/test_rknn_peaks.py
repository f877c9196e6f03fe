# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""NPU bytes of one and two models, as measured on librknnrt 1.5.2 (RK3588): the stand-in to the
byte, then our port."""

from __future__ import annotations

import pytest
from rknn_raw import MULTI, PAGE, SEGMENT, Raw, port, rknn_model

OUTSIDE, INFO_ONLY, INTERNAL_OUTSIDE = 0x10, 0x100, 0x200


@pytest.fixture
def paths(tmp_path):
    """The two measured models as files."""
    files = []
    for name, data in (("segment", SEGMENT), ("multi", MULTI)):
        files.append(str(tmp_path / f"{name}.rknn"))
        (tmp_path / f"{name}.rknn").write_bytes(data)
    return files


def two_models(raw, sources, flag):
    """What a C program does: init both, ask, then give weights (0x10) and one internal block sized
    to the maximum."""
    contexts = []
    for source in sources:
        code, ctx = raw.init(source, flag)
        assert code == 0
        contexts.append(ctx)
    if not flag:
        return
    sizes = [raw.mem_size(ctx) for ctx in contexts]
    block = raw.create_mem(contexts[0], max(s.internal for s in sizes))
    for ctx, size in zip(contexts, sizes):
        view = raw.create_mem_from_fd(
            ctx, block.contents.fd, block.contents.virt, size.internal, 0
        )
        assert raw.set_internal_mem(ctx, view) == 0
        if flag == OUTSIDE:
            assert raw.set_weight_mem(ctx, raw.create_mem(ctx, size.weight)) == 0
    for ctx in contexts:
        raw.attach_io(ctx)
        assert raw.run(ctx, None) == 0


ROWS = [
    ("separate, path", 0, True, 6983680),
    ("separate, buffer", 0, False, 6578176),
    ("0x200, path", INTERNAL_OUTSIDE, True, 5869568),
    ("0x200, buffer", INTERNAL_OUTSIDE, False, 5464064),
    ("0x10, buffer", OUTSIDE, False, 5402624),
    ("0x10, path", OUTSIDE, True, 8175616),
]


def peak_without_io(raw):
    """Peak bytes besides inputs and outputs, which the measurements left out."""
    io = sum(p.taken for p in raw.npu.pieces if p.kind == "mem" and p.nbytes in IO_SIZES)
    return raw.npu.peak - io


IO_SIZES = {
    rknn_model.sizes(t)[2]
    for d in (SEGMENT, MULTI)
    for s in [rknn_model.parse(d)]
    for t in s.inputs + s.outputs
}


@pytest.mark.parametrize("name, flag, path, peak", ROWS, ids=[r[0] for r in ROWS])
def test_peak_of_two_models(paths, name, flag, path, peak):
    raw = Raw()
    two_models(raw, paths if path else [SEGMENT, MULTI], flag)
    assert peak_without_io(raw) == peak


def test_one_model():
    """A from a path and from a buffer, what is reported of it, and the info-only load."""
    raw = Raw()
    assert raw.init(SEGMENT, 0)[0] == 0
    assert raw.npu.live == 69632 + 2347008 + 3022848 == 5439488
    assert raw.mem_size(raw.runtime.contexts()[0].number).dma == 5435216


def test_one_model_from_a_path(paths):
    raw = Raw()
    code, ctx = raw.init(paths[0], 0)
    assert (code, raw.npu.live) == (0, 2740224 + 69632 + 3022848)
    assert raw.npu.live == 5832704
    assert raw.mem_size(ctx).dma == 8569650


def test_sizes_are_the_same_under_every_flag():
    for flag in (0, OUTSIDE, INFO_ONLY, INTERNAL_OUTSIDE):
        raw = Raw()
        size = raw.mem_size(raw.init(SEGMENT, flag)[1])
        assert (size.weight, size.internal) == (1572288, 3022848)


def test_sharing_saves_the_smaller_internal_memory():
    peaks = {(flag, path): peak for _, flag, path, peak in ROWS}
    for path in (True, False):
        assert peaks[0, path] - peaks[INTERNAL_OUTSIDE, path] == 1114112


# --- our port ---


@pytest.mark.parametrize("from_path", [True, False])
def test_the_port_reaches_the_0x200_buffer_row(boards, paths, from_path):
    """Whatever the source is: the port reads paths itself, so that the file does not stay in NPU
    memory."""
    raw, p = boards()
    for source in paths if from_path else [SEGMENT, MULTI]:
        p.load(source)
    assert peak_without_io(raw) == 5464064
    assert not raw.npu.by_kind().get("file")


def test_the_port_separate_is_the_buffer_row(boards):
    raw, p = boards()
    p.load(SEGMENT, shared=False)
    p.load(MULTI, shared=False)
    assert peak_without_io(raw) == 6578176


def test_the_port_never_uses_0x10_with_a_path(boards, paths):
    """Every way of loading, from paths: rknn_init never sees a path, and 0x10 only where it is
    needed."""
    raw, p = boards()
    seen = []
    inner = raw.runtime.init
    raw.runtime.init = lambda *args: seen.append((args[2], args[3])) or inner(*args)
    # the functions were bound when the library was made, so rebind this one
    raw.lib.rknn_init = raw.lib._function("rknn_init", "i", "ppIIp")
    p = port.Port(raw.lib, soc="rk3588")
    master = p.load(paths[0])
    for how in ({}, {"shared": False}, {"dup": True}, {"master": master}):
        p.load(paths[1], **how)
    assert seen and all(size > 0 for size, _ in seen)
    # asked and loaded; the same, and once more with its own memory, which needs no new question;
    # asked and loaded for duplicates; a slave, asked with the flag that takes the least
    shared, own = INTERNAL_OUTSIDE, OUTSIDE
    flags = [flag for _, flag in seen]
    assert flags[1::2] == [shared] * 5 + [own] * 2 + [shared, 0x20]
    # before each a context that takes nothing, with which the driver is asked for the memory
    assert set(flags[::2]) == {OUTSIDE | INFO_ONLY}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_switching_does_not_grow(boards, order):
    """A, B, A, B, A loaded and unloaded: nothing stays."""
    raw, p = boards()
    models = [SEGMENT, MULTI]
    for _ in range(5):
        handles = [p.load(models[i]) for i in order]
        live = raw.npu.live
        assert 0 <= p.used - live <= 2 * 2 * PAGE
        for handle in handles:
            p.unload(handle)
        assert (raw.npu.live, p.used, raw.runtime.contexts()) == (0, 0, [])


def test_forecast_and_measurement(boards):
    raw, p = boards()
    first = p.inspect(SEGMENT)
    assert (first.weight, first.internal, first.certainty) == (1572288, 3022848, "at most")
    assert raw.npu.live == 0
    p.load(SEGMENT)
    assert 0 <= first.need["npu"] - (raw.npu.live - 3022848) <= 2 * PAGE  # page rounding
    assert p.inspect(SEGMENT).need == first.need
