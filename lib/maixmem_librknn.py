# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""librknnrt (Rockchip's NPU runtime): its calls, with the checks that it leaves out.

Behaviour was measured on librknnrt 1.5.2; the mini runtime (RV1103, RV1106) was read.
"""

import ctypes
import errno
import os

from maixmem_rknnapi import (
    BAD_PHYS,
    CALLS,
    IN_OUT_NUM,
    MALLOC_FAIL,
    MEM_SIZE,
    PAGE,
    SDK_VERSION,
    Counts,
    Handle,
    InitExtend,
    MemSize,
    RknnError,
    TensorAttr,
    Version,
    pages,
)


def open_library():
    """The runtime of this board: librknnrt, or librknnmrt on RV1103 and RV1106. ImportError where there is neither."""
    for name in ("librknnrt.so", "librknnmrt.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    raise ImportError(
        "neither librknnrt.so nor librknnmrt.so can be opened: install the runtime of your board"
    )


# Memory that several contexts look at. `virt` is where it starts for the CPU; either `fd` (a dma-buf) or `phys` names it for
# the NPU. It belongs to whoever made it: rknn_create_mem (Block.of), or MMZ, a dma-heap, another program.
class Block:
    """A range of memory, in bytes, that views are cut from."""

    def __init__(self, virt, nbytes, fd=None, phys=None):
        if not virt or nbytes < 1 or (fd is None and not phys):
            raise ValueError(
                "a block needs virt, nbytes and one of fd and phys: {}, {}, {}, {}".format(
                    virt, nbytes, fd, phys
                )
            )
        self.virt = virt
        self.nbytes = nbytes
        self.fd = fd
        self.phys = phys

    @classmethod
    def of(cls, mem):
        """The block that rknn_create_mem made."""
        m = mem.contents
        return cls(m.virt, m.size, m.fd if m.fd >= 0 else None, m.phys)

    def check(self, nbytes, offset):
        """ValueError when `nbytes` at `offset` are not all inside, or the descriptor is none."""
        end = self.nbytes
        if self.fd is not None:
            try:
                end = min(end, os.lseek(self.fd, 0, os.SEEK_END))
            except OSError as e:
                if e.args[0] != errno.ESPIPE:  # a memory that does not tell its size
                    raise ValueError("fd {} is not a memory: {}".format(self.fd, e))
        if nbytes < 1 or offset < 0 or offset + nbytes > end:
            raise ValueError(
                "{} bytes at {} of {}, which has {}".format(nbytes, offset, self, end)
            )

    def __str__(self):
        return "physical 0x{:x}".format(self.phys) if self.fd is None else "fd {}".format(self.fd)


# Contract. Owns the list of live contexts and of the memories made with each; all sizes are bytes. The order of release is kept
# here: a context takes its memories with it (the runtime would lose them), nothing is released twice, and an interrupt in
# the middle of a release is raised at its end. What the runtime refuses is an RknnError, what it would not check a
# ValueError before the call. `used` = page-rounded bytes of our own memories; `lost` = bytes that the runtime did not give back.
class Runtime:
    """The calls of one runtime library."""

    def __init__(self, library):
        self._calls = {}
        for name, (result, arguments) in CALLS.items():
            call = getattr(library, name, None)
            if call is None:
                text = "{} has no {}: is it the RKNN runtime? Next: install that of your board, 1.5 or newer"
                raise ImportError(text.format(getattr(library, "_name", library), name))
            call.restype = result
            call.argtypes = arguments
            self._calls[name] = call
        self.mini = "librknnmrt" in getattr(library, "_name", "")
        self.used = 0
        self.lost = 0
        self.abandoned = 0
        self._failed = 0
        self._mems = {}

    # --- contexts ---

    def init(self, model, flag, master=0):
        """A context for `model`, a ctypes array that must live until the weights are set (OUTSIDE) or this returns.

        A failed init leaves a context that keeps its memory. The first is destroyed; the destroy after a second was seen
        to end the process, so from then on they are left alone and counted in `abandoned`.
        """
        handle = Handle(0)
        extend = None
        if master:
            extend = InitExtend()
            extend.ctx = master
        code = None
        try:
            code = self._calls["rknn_init"](handle, model, len(model), flag, extend)
        finally:
            if code != 0 and handle.value:
                self._give_up(handle.value, code)
        _check("rknn_init with flag 0x{:x}".format(flag), code)
        self._mems[handle.value] = {}
        return handle.value

    def dup(self, ctx):
        """A second context on the weights of `ctx`, which must have been made with OUTSIDE."""
        handle = Handle(0)
        code = None
        try:
            code = self._calls["rknn_dup_context"](Handle(ctx), handle)
        finally:
            if code != 0 and handle.value:
                self._give_up(handle.value, code)
        _check("rknn_dup_context", code)
        self._mems[handle.value] = {}
        return handle.value

    # `code` None: a signal came when the call had succeeded.
    def _give_up(self, ctx, code):
        self._failed += code is not None
        if code is not None and self._failed > 1:
            self.abandoned += 1
        else:
            self._calls["rknn_destroy"](ctx)

    def destroy(self, ctx, nbytes=0):
        """Releases the memories of `ctx`, then the context. `nbytes` counts as lost when the runtime refuses."""
        self._mems_of(ctx)
        try:
            self.release_all(ctx)
        finally:
            del self._mems[ctx]
            if self._calls["rknn_destroy"](ctx) != 0:
                self.lost += nbytes

    def held(self, ctx, but=None):
        """Page-rounded bytes of our own memories of `ctx`, except `but`."""
        return sum([nbytes for mem, nbytes, _ in self._mems_of(ctx).values() if mem is not but])

    def run(self, ctx):
        """One inference, until it is done."""
        self._mems_of(ctx)
        _check("rknn_run", self._calls["rknn_run"](ctx, None))

    # --- queries ---

    def mem_size(self, ctx):
        """MemSize; zeroed first, because runtimes without SRAM do not write its fields."""
        return self._query(ctx, MEM_SIZE, MemSize())

    def counts(self, ctx):
        """(inputs, outputs); (0, 0) under INFO_ONLY."""
        found = self._query(ctx, IN_OUT_NUM, Counts())
        return found.inputs, found.outputs

    def attr(self, ctx, command, index):
        """The TensorAttr of one input or output."""
        found = TensorAttr()
        found.index = index
        return self._query(ctx, command, found)

    def version(self, ctx):
        """Versions of runtime and driver as text."""
        found = self._query(ctx, SDK_VERSION, Version())
        return "{}, driver {}".format(found.api.decode(), found.driver.decode())

    def _query(self, ctx, command, into):
        self._mems_of(ctx)
        code = self._calls["rknn_query"](ctx, command, ctypes.byref(into), ctypes.sizeof(into))
        _check("rknn_query {}".format(command), code)
        return into

    # --- memory ---

    def create_mem(self, ctx, nbytes):
        """NPU memory of `nbytes`, or None when there is none."""
        if not 0 < nbytes < 1 << 32:
            raise ValueError("{} bytes: must be 1 to 4294967295".format(nbytes))
        return self._keep(ctx, self._calls["rknn_create_mem"](ctx, nbytes), pages(nbytes), 0)

    def view(self, ctx, block, nbytes, offset=0):
        """`nbytes` at `offset` of a Block, for context `ctx`. Takes no memory. The runtime would not check the range."""
        block.check(nbytes, offset)
        if block.fd is None:
            where = (block.phys + offset, block.virt + offset, nbytes)
            mem = self._calls["rknn_create_mem_from_phys"](ctx, *where)
        else:
            mem = self._calls["rknn_create_mem_from_fd"](ctx, block.fd, block.virt, nbytes, offset)
        mem = self._keep(ctx, mem, 0, offset + (block.phys if block.fd is None else 0))
        if mem is not None and mem.contents.phys in BAD_PHYS:
            self.release([(ctx, mem)])
            mem = None
        if mem is None:
            raise RknnError(
                "a view of {} bytes at {} of {}".format(nbytes, offset, block), MALLOC_FAIL
            )
        return mem

    def release(self, pairs):
        """Destroys each (context, memory) of ours that is still there, even when a signal arrives meanwhile."""
        interrupt = None
        for ctx, mem in pairs:
            try:
                self._destroy_mem(ctx, mem)
            except BaseException as e:
                interrupt = e
        if interrupt is not None:
            raise interrupt

    def release_all(self, ctx, but=None):
        """Destroys every memory of `ctx` except `but`."""
        self.release(
            [(ctx, mem) for mem, _, _ in list(self._mems_of(ctx).values()) if mem is not but]
        )

    def _destroy_mem(self, ctx, mem):
        found = self._mems.get(ctx, {}).pop(ctypes.addressof(mem.contents), None)
        if found is None:
            return
        nbytes = found[1]
        self.used -= nbytes
        if self._calls["rknn_destroy_mem"](ctx, mem) != 0:
            self.lost += nbytes

    # --- what a context works in ---

    def set_weight(self, ctx, mem, need):
        """Gives `ctx` its weight memory: the runtime would overrun a smaller one."""
        self._block(ctx, mem, need, "weight")
        _check("rknn_set_weight_mem", self._calls["rknn_set_weight_mem"](ctx, mem))

    def set_internal(self, ctx, mem, need):
        """Gives `ctx` its internal memory: the runtime checks neither size nor place."""
        self._block(ctx, mem, need, "internal")
        _check("rknn_set_internal_mem", self._calls["rknn_set_internal_mem"](ctx, mem))

    def set_io(self, ctx, mem, attr, need):
        """Attaches an input or output of exactly `need` bytes (the mini runtime takes no other size)."""
        if self._ours(ctx, mem).size != need:
            raise ValueError(
                "a tensor of {} bytes, its memory has {}: make it that size".format(
                    need, mem.contents.size
                )
            )
        _check("rknn_set_io_mem", self._calls["rknn_set_io_mem"](ctx, mem, attr))

    def sync(self, ctx, mem, mode):
        """Makes what one side wrote visible to the other: TO_DEVICE or FROM_DEVICE."""
        self._ours(ctx, mem)
        _check("rknn_mem_sync", self._calls["rknn_mem_sync"](ctx, mem, mode))

    def _block(self, ctx, mem, need, kind):
        size = self._ours(ctx, mem).size
        start = self._mems[ctx][ctypes.addressof(mem.contents)][2]
        if size < need or start % PAGE:
            text = "{} memory: {} bytes at {}; the model needs {} at a multiple of {}"
            raise ValueError(text.format(kind, size, start, need, PAGE))

    # --- parts ---

    def _mems_of(self, ctx):
        if ctx not in self._mems:
            raise ValueError("context {}: not ours, or destroyed".format(ctx))
        return self._mems[ctx]

    def _ours(self, ctx, mem):
        if not mem or ctypes.addressof(mem.contents) not in self._mems_of(ctx):
            raise ValueError(
                "a memory that context {} did not make, or that was released".format(ctx)
            )
        return mem.contents

    # `start` is where it begins in its block, or in physical memory.
    def _keep(self, ctx, mem, nbytes, start):
        if not mem:
            return None
        self._mems_of(ctx)[ctypes.addressof(mem.contents)] = (mem, nbytes, start)
        self.used += nbytes
        return mem


def _check(call, code):
    if code != 0:
        raise RknnError(call, code)
