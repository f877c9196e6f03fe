# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The runtime's plain calls, one after the other, with what each returned and the bytes that were
live then.

Run on the real library and on the stand-in, the rows must be equal.
"""

import ctypes
import os
import sys

from rknn_board import MODELS, board, tell

UINT8, FLOAT32 = 3, 0


def main():
    there, version = board()
    from maixmem_rknn import api

    lib = there.lib
    calls = {}
    for name, (result, arguments) in list(api.CALLS.items()) + list(api.LATER_CALLS.items()):
        call = getattr(lib, name, None)
        tell("has", name, call is not None)
        if call is not None:
            call.restype, call.argtypes = result, arguments
            calls[name[len("rknn_") :]] = call
    for name in MODELS:
        taken = version >= MODELS[name][2]
        for flag in (0, 0x10, 0x100, 0x110, 0x200) if taken else (0,):
            for path in (False, True):
                Walk(there, calls, api, name).run(flag, path, taken)
    sys.stdout.flush()
    os._exit(0)  # the runtime's own destructors are not what is compared


class Walk:
    def __init__(self, there, calls, api, name):
        self.there, self.call, self.api, self.name = there, calls, api, name
        self.ctx = api.Handle(0)

    def row(self, what, *values):
        tell(self.name, what, *values, self.there.live())

    def run(self, flag, path, taken):
        with open(self.there.path(self.name), "rb") as f:
            data = f.read()
        buf = (ctypes.c_ubyte * len(data)).from_buffer_copy(data)
        text = ctypes.create_string_buffer(self.there.path(self.name).encode())
        code = self.call["init"](self.ctx, *((text, 0) if path else (buf, len(data))), flag, None)
        self.row("init", flag, path, code)
        if not taken:
            # the context of a failed init is left alone: the next destroy may end the process
            return
        size = self.query(6, self.api.MemSize())
        self.row("sizes", size.weight, size.internal, size.dma, size.sram)
        counts = self.query(0, self.api.Counts())
        self.row("counts", counts.inputs, counts.outputs)
        inputs = [self.attr(1, i) for i in range(counts.inputs)]
        outputs = [self.attr(2, i) for i in range(counts.outputs)]
        for attr in inputs + outputs:
            self.row("attr", *self.describe(attr))
        for mask in (1, 2, 4, 3, 7, 5, 6, 8, -1, 0):
            self.row("core mask", mask, self.call["set_core_mask"](self.ctx, mask))
        if flag & 0x100 and not path:
            self.ask_driver()
        if not flag and not path:
            self.other_shapes(inputs)
        # with 0x100 nothing can run; a path under 0x10 keeps the file, and is not how anybody
        # should load
        mems = self.memory(flag, size, inputs, outputs) if not flag & 0x100 and not path else []
        for mem in mems:
            self.row("destroy_mem", self.call["destroy_mem"](self.ctx, mem))
        self.row("destroy", self.call["destroy"](self.ctx))

    # of a model of one shape: runtimes without the call do not know the questions either
    def other_shapes(self, inputs):
        if "set_input_shapes" not in self.call:
            return
        for command, into in ((13, self.api.InputRange), (14, self.api.TensorAttr)):
            self.query(command, into())
        attrs = (self.api.TensorAttr * len(inputs))(*inputs)
        self.row("same shapes", self.call["set_input_shapes"](self.ctx, len(inputs), attrs))

    def ask_driver(self):
        mem = self.call["create_mem"](self.ctx, 1 << 20)
        self.row("asked for memory", bool(mem))
        self.row("given back", self.call["destroy_mem"](self.ctx, mem))

    def memory(self, flag, size, inputs, outputs):
        call, ctx = self.call, self.ctx
        internal = call["create_mem"](ctx, size.internal)
        m = internal.contents
        self.row("create_mem", m.size, m.offset, m.fd >= 0)
        view = call["create_mem_from_fd"](ctx, m.fd, m.virt, size.internal, 0)
        self.row("from_fd", hex(view.contents.phys), view.contents.size)
        bad = call["create_mem_from_fd"](ctx, 999, m.virt, 4096, 0)
        self.row("from a bad fd", hex(bad.contents.phys), call["destroy_mem"](ctx, bad))
        mems = [view, internal]
        if flag & 0x10:
            mems.append(call["create_mem"](ctx, size.weight))
            self.row("set_weight_mem", call["set_weight_mem"](ctx, mems[-1]))
        self.row("set_internal_mem", call["set_internal_mem"](ctx, view))
        for attr in inputs:
            self.row("small input", self.attach(mems, attr, attr.size_with_stride - 1))
            attr.type = UINT8
            self.row("uint8 input", self.attach(mems, attr, attr.n_elems))
        for attr in outputs:
            # outputs of any size are taken; the last one stays, and has its own
            self.row("small output", self.attach(mems, attr, 1))
            self.row("output", self.attach(mems, attr, max(attr.size, attr.size_with_stride)))
        area = mems[-1].contents
        ctypes.memset(area.virt, 0xA5, area.size)
        self.row("run", call["run"](ctx, None))
        written = ctypes.string_at(area.virt, area.size).rstrip(b"\xa5")
        self.row("bytes written", len(written) <= outputs[-1].size)
        for attr in inputs:  # now: 1.6.0 does not run any more once an input was float32
            attr.type = FLOAT32
            self.row("small float32 input", self.attach(mems, attr, 4 * attr.n_elems - 1))
            self.row("float32 input", self.attach(mems, attr, 4 * attr.n_elems))
        return mems

    def attach(self, mems, attr, nbytes):
        mems.append(self.call["create_mem"](self.ctx, nbytes))
        return self.call["set_io_mem"](self.ctx, mems[-1], attr)

    def query(self, command, into):
        size = ctypes.sizeof(into)
        self.row("query", command, self.call["query"](self.ctx, command, ctypes.byref(into), size))
        return into

    def attr(self, command, index):
        found = self.api.TensorAttr()
        found.index = index
        return self.query(command, found)

    @staticmethod
    def describe(a):
        scale = round(a.scale, 3)
        shape = list(a.dims[: a.n_dims])
        sizes = (a.n_elems, a.size, a.size_with_stride, a.w_stride)
        return (shape, sizes, a.fmt, a.type, a.qnt_type, a.zp, scale, a.pass_through)


main()
