# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What inputs and outputs are given and read as, models for several resolutions, and memory of the
caller's allocators."""

from __future__ import annotations

import ctypes

import pytest
from maixmem import NoRoom
from maixmem_rknn import Block, mmz
from rknn_raw import PAGE, Raw, answer, small

PICTURE = [[1, 4, 4, 3], 0]
FEATURES = [[1, 4, 4, 8], 0]
FLOATS = [[1, 4, 4, 3], 16, {"type": 1, "qnt": 0, "zp": 0}]


def model(**more):
    return small("m", inputs=[PICTURE, FEATURES, FLOATS], **more)


# --- types ---


def test_pictures_are_uint8_and_all_else_as_the_model_has_it(boards):
    p = boards()[1]
    inputs = p.load(model()).inputs
    assert [(t.type, t.fmt, t.zero_point) for t in inputs] == [
        ("uint8", "nhwc", -128),
        ("int8", "nhwc", -128),
        ("float16", "nhwc", 0),
    ]
    # a row of 4 pixels is padded to 16
    assert [(t.packed, t.nbytes) for t in inputs] == [(48, 48), (128, 128), (96, 384)]


@pytest.mark.parametrize(
    ("how", "types"),
    [
        ({"inputs": "native"}, ["int8", "int8", "float16", "int8"]),
        ({"inputs": "float32"}, ["float32", "float32", "float32", "int8"]),
        ({"inputs": {0: "int8", "input2": "uint8"}}, ["int8", "int8", "uint8", "int8"]),
        ({"outputs": "float32"}, ["uint8", "int8", "float16", "float32"]),
        ({"outputs": {0: {"type": "float16"}}}, ["uint8", "int8", "float16", "float16"]),
    ],
)
def test_types_can_be_given(boards, how, types):
    raw, p = boards()
    m = p.load(model(), **how)
    assert [t.type for t in m.inputs + m.outputs] == types
    outputs = m.run(*[bytes(t.packed) for t in m.inputs])
    bytes_of = {"int8": 1, "float16": 2, "float32": 4}
    assert [len(data) for data in outputs] == [32 * bytes_of[types[-1]]]
    told = raw.runtime.contexts()[0].told
    assert told[(False, 0)] == {"int8": 2, "uint8": 3, "float32": 0}[types[0]]


def test_quantisation_can_be_given(boards):
    raw, p = boards()
    how = {0: {"type": "int8", "scale": 0.5, "zero_point": 3, "pass_through": 1, "fmt": "nhwc"}}
    tensor = p.load(model(), inputs=how).inputs[0]
    assert (tensor.scale, tensor.zero_point, tensor.attr.pass_through) == (0.5, 3, 1)


@pytest.mark.parametrize(
    "wrong", ["uint9", {0: "pixels"}, {0: {"fmt": "nc1hwc2"}}, {0: {"size": 1}}]
)
def test_a_wrong_option_is_named(boards, wrong):
    raw, p = boards()
    with pytest.raises(
        ValueError, match="the fields are type, fmt, scale, zero_point, pass_through"
    ):
        p.load(model(), inputs=wrong)
    assert (raw.npu.live, p.used) == (0, 0)


def test_a_frame_of_another_size_names_type_and_option(boards):
    p = boards()[1]
    m = p.load(model())
    with pytest.raises(
        ValueError, match=r"48 bytes for an input of .* float16: 96 packed or 384"
    ) as e:
        m.run(bytes(48), bytes(128), bytes(48))
    assert "load(inputs=...)" in str(e.value)


def test_outputs_are_as_long_as_their_data(boards):
    """size_with_stride of an output is that of the chip's layout: the runtime writes no more than
    the data."""
    p = boards()[1]
    m = p.load(small("wide", outputs=[[[1, 32], 0, {"wide": 4096}]]))
    assert (m.outputs[0].packed, m.outputs[0].nbytes) == (32, 32)


# --- cached memory ---


def test_cached_memory_is_flushed_as_the_version_does_it_or_refused(desk, monkeypatch):
    data = small("a", version=2)
    for version in ("1.6.0", "1.5.0"):
        raw = Raw(version=version)
        p = raw.plug()
        m = p.load(data)
        b = raw.runtime.dma_alloc(PAGE)
        said = []
        monkeypatch.setattr(
            Block, "sync", lambda self, to_device, said=said: said.append(to_device)
        )
        raw.runtime.faults.clear()
        m.inputs[0].attach(Block(b.virt, PAGE, fd=b.fd, cached=True))
        assert m.run(bytes(64)) == answer(data, bytes(64))
        if version == "1.6.0":
            assert not said and raw.runtime.faults.names.count("rknn_mem_sync") == 1
        else:
            assert said == [True]
            with pytest.raises(ValueError, match="no rknn_mem_sync"):
                m.inputs[0].attach(Block(b.virt, PAGE, phys=b.phys, cached=True))


# --- Rockchip's allocator ---


class Allocator:
    """RK_MPI_MMZ over another program's blocks."""

    def __init__(self, runtime, address=True):
        blocks = {}

        def alloc(out, nbytes, flags):
            block = runtime.dma_alloc(nbytes)
            if block is None:
                return -1
            handle = out._obj
            handle.value = len(blocks) + 1
            blocks[handle.value] = block
            return 0

        def free(handle):
            runtime.npu.free(blocks.pop(handle.value))
            return 0

        self.blocks = blocks
        self.RK_MPI_MMZ_Alloc = alloc
        self.RK_MPI_MMZ_Free = free
        self.RK_MPI_MMZ_Handle2VirAddr = lambda handle: blocks[handle.value].virt
        self.RK_MPI_MMZ_Handle2Fd = lambda handle: blocks[handle.value].fd
        known = (1 << 64) - 1
        self.RK_MPI_MMZ_Handle2PhysAddr = lambda h: blocks[h.value].phys if address else known


@pytest.mark.parametrize("address", [True, False])
def test_a_model_in_memory_of_mmz(boards, address):
    raw, p = boards()
    allocator = Allocator(raw.runtime, address)
    data = small("a")
    block = mmz.alloc(70000, library=allocator)
    assert block.nbytes == 73728 and bool(block.phys) == address and not block.cached
    m = p.load(data, internal=block)
    assert m.run(bytes(64)) == answer(data, bytes(64))
    p.unload(m)
    block.free()
    block.free()
    assert raw.npu.live == 0 and not allocator.blocks


def test_mmz_without_memory_or_library(boards, monkeypatch):
    raw, _ = boards(capacity=1 << 20)
    with pytest.raises(NoRoom, match="RK_MPI_MMZ_Alloc of 2097152 bytes: -1") as e:
        mmz.alloc(2 << 20, library=Allocator(raw.runtime))
    assert (e.value.region, e.value.need, e.value.code) == ("mmz", 2 << 20, -1)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: (_ for _ in ()).throw(OSError(name)))
    with pytest.raises(ImportError, match=r"no RK_MPI_MMZ here.*install librockit or libmpimmz"):
        mmz.alloc(1)
    with pytest.raises(ValueError):
        mmz.alloc(0)
