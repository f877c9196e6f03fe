# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The memory calls of the stand-in runtime: what they check, and what they do not."""

import ctypes
import struct

import rknn_model
from rknn_objects import ATTR_NAME, BAD_PHYS, FAIL, MEM, OUTSIDE, PARAM_INVALID, SUCC, Mem


# Contract. A part of Runtime, which has the context table, the ledger and the log.
class MemoryCalls:
    def create_mem(self, number, size):
        """rknn_create_mem: NULL without a context, for 0 bytes, and when memory is out."""
        context, code = self._live(number)
        block = None if code else self.npu.block("mem", size)
        if block is None:
            return self._fail(0, "rknn_create_mem: failed, size: %d" % size)
        return self._keep(Mem(context, block, (block.virt, block.phys, block.fd, 0, size), True))

    def create_mem_from_fd(self, number, fd, virt, size, offset):
        """rknn_create_mem_from_fd: checks nothing; the full runtime makes a memory of a bad descriptor, too."""
        context, code = self._live(number)
        block = self.npu.find(lambda b: b.fd == fd)
        if code or (block is None and self.profile.mini):
            return 0
        phys = block.phys if block else BAD_PHYS
        return self._keep(Mem(context, block, (virt or 0, phys, fd, offset, size), False))

    def create_mem_from_phys(self, number, phys, virt, size):
        """rknn_create_mem_from_phys: checks nothing."""
        context, code = self._live(number)
        if code:
            return 0
        block = self.npu.find(lambda b: b.phys <= phys < b.phys + b.taken)
        return self._keep(
            Mem(
                context,
                block,
                (virt or 0, phys, -1, phys - block.phys if block else 0, size),
                False,
            )
        )

    def destroy_mem(self, number, address):
        """rknn_destroy_mem: after its context died it frees nothing, or kills the process."""
        mem = self._mems.get(address)
        if not address:
            return PARAM_INVALID
        if mem is None or not mem.alive:
            raise self._crash("SIGSEGV: rknn_destroy_mem of a memory that is gone")
        if not mem.context.alive:
            if mem.weights:
                raise self._crash("SIGBUS: rknn_destroy_mem of weights after their context")
            return SUCC
        mem.alive = False
        mem.context.mems.remove(mem)
        if mem.own:
            self.npu.free(mem.block)
        return SUCC

    def set_weight_mem(self, number, address):
        """rknn_set_weight_mem: copies the weights there, however small it is."""
        context, mem, code = self._both(number, address)
        if code:
            return code
        if not context.flag & OUTSIDE:
            return self._fail(
                FAIL if self.profile.mini else PARAM_INVALID,
                "Must set RKNN_FLAG_MEM_ALLOC_OUTSIDE",
            )
        if context.buffer is not None and context.buffer() is None:
            raise self._crash("SIGSEGV: the model buffer was freed before rknn_set_weight_mem")
        context.overrun = not mem.fits(context.spec.weight)
        context.weighed = mem.weights = True
        context.buffer = None
        self._free_own(context, "weights")  # the mini runtime's copy; the full one has none
        return SUCC

    def set_internal_mem(self, number, address):
        """rknn_set_internal_mem: no check of size, offset or origin."""
        context, mem, code = self._both(number, address)
        if code:
            return code
        if self.profile.mini and not context.flag & OUTSIDE:
            return self._fail(FAIL, "Must set RKNN_FLAG_MEM_ALLOC_OUTSIDE")
        if self.profile.mini and context.io:
            return self._fail(FAIL, "You must call rknn_set_internal_mem before rknn_set_io_mem!")
        self._free_own(context, "internal")
        context.internal = mem
        return SUCC

    def set_io_mem(self, number, address, attr):
        """rknn_set_io_mem: too small is refused; the mini runtime wants the exact size."""
        context, mem, code = self._both(number, address)
        if code:
            return code
        index = struct.unpack("@I", ctypes.string_at(attr, 4))[0]
        output = ctypes.string_at(attr + ATTR_NAME).startswith(b"output")
        tensors = context.spec.outputs if output else context.spec.inputs
        if index >= len(tensors):
            return PARAM_INVALID
        need = rknn_model.sizes(tensors[index])[2]
        if mem.size < need or (self.profile.mini and mem.size != need):
            kind = "output" if output else "input"
            return self._fail(
                FAIL, "%s memory size(%d) < model %s size(%d)" % (kind, mem.size, kind, need)
            )
        context.io[(output, index)] = mem
        return SUCC

    def mem_sync(self, number, address, mode):
        """rknn_mem_sync: caches are coherent here."""
        code = self._both(number, address)[2]
        return code or (SUCC if mode in (1, 2, 3) else PARAM_INVALID)

    def _keep(self, mem):
        self._mems[mem.address] = mem
        mem.context.mems.append(mem)
        return mem.address

    def _both(self, number, address):
        context, code = self._live(number)
        mem = self._mems.get(address)
        if code or not address:
            return context, mem, code or PARAM_INVALID
        if (
            mem is None
        ):  # a struct that the caller made by hand: the mini runtime misses its private data
            if self.profile.mini:
                return (
                    context,
                    mem,
                    self._fail(FAIL, "please use rknn_tensor_mem from rknn_create_mem"),
                )
            fields = MEM.unpack(ctypes.string_at(address, MEM.size))
            mem = Mem(context, None, fields[:5], False)
        elif not mem.alive:
            raise self._crash("SIGSEGV: use of a memory after rknn_destroy_mem")
        return context, mem, SUCC

    def _free_own(self, context, kind):
        for piece in context.own:
            if piece.kind == kind:
                self.npu.free(piece)
