# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What an rknn_init that ran out of memory keeps: had back, or counted where it cannot be."""

from __future__ import annotations

import importlib

import pytest
from devtest import raises
from maixmem import NoRoom
from maixmem_rknn import kept
from maixmem_rknn.runtime import Runtime
from rknn_raw import Raw, answer, small

MEM = importlib.import_module("rknn_objects").MEM
MemoryCalls = importlib.import_module("rknn_memory").MemoryCalls


def starve(raw, p, data, times):
    """Loads that find no memory for the second allocation of rknn_init; the bytes that are lost
    after each."""
    p.inspect(data)
    raw.runtime.faults.clear()
    p.unload(p.load(data))
    half_way = raw.runtime.faults.names.index("alloc regs") + 1
    lost = []
    for i in range(times):
        raw.runtime.faults.clear()
        raw.runtime.faults.fail(half_way, -4)
        e = raises(NoRoom, p.load, data)
        assert "rknn_init with flag 0x10: -4 RKNN_ERR_MALLOC_FAIL: NPU memory" in str(e)
        assert p.lib.leaked_contexts == i + 1 == len(raw.runtime.contexts())
        assert raw.npu.live <= p.lib.leaked_bytes
        lost.append(p.lib.leaked_bytes)
    raw.runtime.faults.clear()
    model = p.load(data)
    assert model.run(bytes(64)) == answer(data, bytes(64))
    p.unload(model)
    return lost


@pytest.mark.parametrize("version", ["1.4.0", "1.5.0"])
def test_contexts_that_ran_out_of_memory_are_left_alone_without_it(desk, version):
    """Their destroy would end the process; their memory the runtime gives back."""
    raw = Raw(version=version)
    p = raw.plug()
    assert starve(raw, p, small("a", version=2), 3) == [0, 0, 0]
    assert raw.npu.live == p.used == 0 and p.warnings() == []


def no_maps(monkeypatch):
    monkeypatch.setattr(kept, "_shared", lambda: None)


def other_maps(monkeypatch):
    """What is new is somebody else's: the runtime leaves it alone."""
    lines = set()

    def shared():
        start = len(lines) + 1 << 12
        line = "{:x}-{:x} rw-s 0 00:01 7 /dev/video0".format(start, start + 4096)
        lines.add(line.encode())
        return set(lines)

    monkeypatch.setattr(kept, "_shared", shared)


def other_handles(monkeypatch):
    """What `priv` is was not seen of this runtime."""
    keep = MemoryCalls._keep

    def numbered(calls, mem):
        mem.struct.raw = MEM.pack(*MEM.unpack(mem.struct.raw)[:-1], 7)
        return keep(calls, mem)

    monkeypatch.setattr(MemoryCalls, "_keep", numbered)


def newer(monkeypatch):
    monkeypatch.setattr(Runtime, "version", lambda lib, ctx: "2.0.0b0 (stand-in), driver 0.9.6")


@pytest.mark.parametrize("what", [no_maps, other_maps, other_handles, newer])
def test_memory_that_cannot_be_had_back_is_counted(desk, monkeypatch, what):
    """Where the mappings cannot be read or are others, and with runtimes of which it was not
    seen."""
    raw = Raw(version="1.5.0")
    p = raw.plug()
    what(monkeypatch)
    lost = starve(raw, p, small("a", version=2), 3)
    assert 0 < raw.npu.live <= lost[0] * 3 == lost[2] == p.used
    assert "restart" in p.warnings()[0]
