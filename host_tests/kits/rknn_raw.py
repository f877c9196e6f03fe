# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The RKNN library as C programs use it: raw calls for tests, without the checks of our port."""

from __future__ import annotations

import ctypes
import importlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import fresh
import linux_boards
import maixmem_generic
import pytest

librknnrt, port = linux_boards.shim("rknn", "librknnrt", "maixmem_rknn.port")
api = importlib.import_module("maixmem_rknn.api")
rknn_model = importlib.import_module("rknn_model")
Crash = importlib.import_module("rknn_objects").Crash

Block = importlib.import_module("maixmem_rknn.block").Block

PAGE = 4096
#: flags of rknn_init
OUTSIDE, SHARE_WEIGHT, INFO_ONLY, INTERNAL_OUTSIDE = 0x10, 0x20, 0x100, 0x200
SEGMENT, MULTI = rknn_model.measured("segment"), rknn_model.measured("multi")


@pytest.fixture(name="desk", autouse=True)
def desk_fixture() -> Iterator[None]:
    """For every test: /proc/meminfo is what the last Raw.plug() made it, and collections are
    quick."""
    real = maixmem_generic.meminfo
    fresh.quick_collections()
    yield
    maixmem_generic.meminfo = real


def small(
    name: str, weight: int = 8192, internal: int = 65536, targets: tuple = ("rk3588",), **more: Any
) -> bytes:
    """A small model: one input of 64 bytes, one output of 32."""
    values: dict[str, Any] = {
        "weight": weight,
        "internal": internal,
        "regs": 1000,
        "blob": weight + 3000,
        "outside": [2000],
        "inputs": [[[1, 4, 4, 4], 0]],
        "outputs": [[[1, 32], 0]],
    }
    values.update(more)
    return rknn_model.build(name, weight + 9000, targets, **values)


def answer(data: bytes, *inputs: bytes) -> list[bytes]:
    """What the model in `data` computes."""
    spec = rknn_model.parse(data)
    kinds = [rknn_model.fields(tensor).get("type", rknn_model.INT8) for tensor in spec.outputs]
    return [rknn_model.answer(spec, i, inputs, kind) for i, kind in enumerate(kinds)]


def in_threads(calls: list[Callable[[], Any]]) -> list[BaseException]:
    """Runs the calls in threads at once; returns the exceptions."""
    errors: list[BaseException] = []

    def body(call: Callable[[], Any]) -> None:
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


class Raw:
    """A process on a board: init() and friends return the runtime's codes."""

    def __init__(
        self,
        profile: str = "rk3588",
        capacity: int = 64 << 20,
        strict: bool = True,
        version: str = "1.6.0",
    ) -> None:
        self.lib = librknnrt.shared_object(profile, capacity, strict, version)
        self.runtime = self.lib.runtime
        self.npu = self.runtime.npu
        self.buffers: list[Any] = []
        for name, (result, arguments) in {**api.CALLS, **api.LATER_CALLS}.items():
            if hasattr(self.lib, name):
                getattr(self.lib, name).restype = result
                getattr(self.lib, name).argtypes = arguments

    def plug(self, **options: Any) -> Any:
        """Makes this the board that our code sees; returns our port on it."""
        maixmem_generic.meminfo = self.lib.meminfo
        return port.Port(self.lib, soc=self.runtime.profile.soc, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.lib, "rknn_" + name)

    def init(
        self, model: bytes | str, flag: int = 0, master: int | None = None
    ) -> tuple[int, int]:
        """(code, context) of rknn_init from a buffer (bytes) or a path (str)."""
        ctx = api.Handle(0)
        extend = None
        if master is not None:
            extend = api.InitExtend()
            extend.ctx = master
        if isinstance(model, str):
            data: Any = ctypes.create_string_buffer(model.encode())
            code = self.lib.rknn_init(ctx, data, 0, flag, extend)
        else:
            data = (ctypes.c_ubyte * len(model)).from_buffer_copy(model)
            code = self.lib.rknn_init(ctx, data, len(model), flag, extend)
        self.buffers.append(data)
        return code, ctx.value

    def mem_size(self, ctx: int) -> Any:
        """rknn_mem_size of a context."""
        found = api.MemSize()
        assert self.lib.rknn_query(ctx, 6, ctypes.byref(found), ctypes.sizeof(found)) == 0
        return found

    def attr(self, ctx: int, output: bool, index: int = 0) -> Any:
        """rknn_tensor_attr of an input or output."""
        found = api.TensorAttr()
        found.index = index
        assert (
            self.lib.rknn_query(ctx, 2 if output else 1, ctypes.byref(found), ctypes.sizeof(found))
            == 0
        )
        return found

    def attach_io(self, ctx: int) -> list[Any]:
        """Makes and attaches all inputs and outputs; returns their memories, inputs first."""
        counts = api.Counts()
        assert self.lib.rknn_query(ctx, 0, ctypes.byref(counts), 8) == 0
        mems = []
        for output, count in ((False, counts.inputs), (True, counts.outputs)):
            for i in range(count):
                attr = self.attr(ctx, output, i)
                mems.append(self.lib.rknn_create_mem(ctx, attr.size_with_stride))
                assert self.lib.rknn_set_io_mem(ctx, mems[-1], attr) == 0
        return mems


@pytest.fixture(name="boards")
def boards_fixture(desk: None) -> Callable[..., tuple[Raw, Any]]:
    """make(profile, capacity, **options) -> (raw view of a board, our port on it)."""

    def make(profile: str = "rk3588", capacity: int = 64 << 20, **options: Any) -> tuple[Raw, Any]:
        raw = Raw(profile, capacity)
        return raw, raw.plug(**options)

    return make
