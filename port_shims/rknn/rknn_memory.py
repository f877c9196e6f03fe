# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The memory calls of the stand-in runtime: what they check, and what they do not."""

import ctypes

import rknn_model
from rknn_model import INT8, UINT8
from rknn_objects import (
    ATTR,
    FAIL,
    FD_PHYS,
    MEM,
    MODEL_INVALID,
    NO_CONTEXT,
    OUTSIDE,
    PARAM_INVALID,
    SUCC,
    Context,
    Mem,
)


# Contract. A part of Runtime, which has the context table, the ledger and the log.
class MemoryCalls:
    def create_mem(self, number, size):
        """rknn_create_mem: NULL without a context, for 0 bytes, and when memory is out."""
        context, code = self._live(number)
        block = None if code else self.npu.block("mem", size)
        if block is None:
            return self._fail(0, "rknn_create_mem: failed, size: %d" % size)
        return self._keep(Mem(context, block, (block.virt, block.phys, block.fd, 0, size), True))

    def create_mem2(self, number, size, flags):
        """rknn_create_mem2: as rknn_create_mem, but with NO_CONTEXT of no context."""
        if not flags & NO_CONTEXT:
            return self.create_mem(number, size)
        block = self.npu.block("mem", size)
        if block is None:
            return 0
        fields = (block.virt, block.phys, block.fd, 0, size)
        return self._keep(Mem(Context(0, 0), block, fields, True))

    def create_mem_from_fd(self, number, fd, virt, size, offset):
        """rknn_create_mem_from_fd: checks nothing; the full runtime stores the same address for
        good and bad descriptors."""
        context, code = self._live(number)
        block = self.npu.find(lambda b: b.fd == fd)
        if code or (block is None and self.profile.mini):
            return 0
        phys = block.phys if self.profile.mini else FD_PHYS
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
        elif mem.priv and not self.profile.mini:
            self._free_at(mem.priv)
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
        self._free_own(context, ("weights",))  # the mini runtime's copy; the full one has none
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
        # a runtime that does not know INTERNAL_ALLOC_OUTSIDE keeps its own, and gives back its
        # inputs and outputs
        own = ("internal",) if self.release.splits or self.profile.mini else ("input", "output")
        self._free_own(context, own)
        context.internal = mem
        return SUCC

    def set_io_mem(self, number, address, attr):
        """rknn_set_io_mem: an input that is too small is refused, of outputs nothing is checked;
        the mini runtime wants exact sizes."""
        context, mem, code = self._both(number, address)
        if code:
            return code
        if context.spec.shapes and context.place is None:
            raise self._crash("SIGABRT: rknn_set_io_mem before rknn_set_input_shapes")
        fields = ATTR.unpack(ctypes.string_at(attr, ATTR.size))
        index, name, fmt, kind = fields[0], fields[18], fields[21], fields[22]
        output = name.startswith(b"output")
        tensors = context.spec.outputs if output else context.spec.inputs
        if index >= len(tensors):
            return PARAM_INVALID
        if fmt == 2 and not output and self.release.splits:
            return self._fail(FAIL, "only NHWC and NCHW inputs")
        need = rknn_model.memory(tensors[index], kind)
        small = not output and mem.size < need
        if small or (self.profile.mini and mem.size != need):
            what = "output" if output else "input"
            return self._fail(
                FAIL, "%s memory size(%d) < model %s size(%d)" % (what, mem.size, what, need)
            )
        if not output:
            self._free_own(context, ("input%d" % index,))
            quantised = rknn_model.fields(tensors[index]).get("type", INT8) == INT8
            if context.spec.shapes and self.release.relists and quantised and kind == UINT8:
                context.relisted.add(index)
                context.retaken.add((index, context.place))
        context.io[(output, index)] = mem
        context.told[(output, index)] = kind
        return SUCC

    def set_input_shapes(self, number, count, attrs):
        """rknn_set_input_shapes: all inputs at once, to one of the combinations that the model was
        converted for."""
        context, code = self._live(number)
        if code:
            return code
        if not context.spec.shapes:
            return self._fail(MODEL_INVALID, "rknn model is static shape type")
        found = [
            ATTR.unpack(ctypes.string_at(attrs + i * ATTR.size, ATTR.size)) for i in range(count)
        ]
        wanted = [list(fields[2 : 2 + fields[1]]) for fields in found]
        taken = [
            [
                rknn_model.nchw(tensor[0]) if (i, place) in context.retaken else tensor[0]
                for i, tensor in enumerate(inputs)
            ]
            for place, (inputs, _) in enumerate(context.spec.shapes)
        ]
        if wanted in taken:
            context.place = taken.index(wanted)
            context.spec = context.spec.at(context.place)
            context.io.clear()
            return SUCC
        known = all(shape in shapes for shape, shapes in zip(wanted, zip(*taken)))
        return self._fail(
            PARAM_INVALID if known else FAIL, "rknn_set_input_shapes: not shapes of this model"
        )

    def mem_sync(self, number, address, mode):
        """rknn_mem_sync: for memory that nothing else flushes what was written until now, or what
        the NPU wrote; else caches are coherent here."""
        _, mem, code = self._both(number, address)
        if code or mode not in (1, 2, 3):
            return code or PARAM_INVALID
        if mode & 1:
            mem.device = ctypes.string_at(mem.block.virt + mem.offset, mem.size)
        elif mem.device is not None:
            ctypes.memmove(mem.block.virt + mem.offset, mem.device, len(mem.device))
        return SUCC

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

    # The real one has a table of all its memories by address; what is not in it is left alone.
    def _free_at(self, virt):
        for context in self.contexts():
            for piece in [piece for piece in context.own if piece.virt == virt]:
                self.npu.free(piece)
                context.own.remove(piece)

    def _free_own(self, context, kinds):
        for piece in context.own:
            if piece.kind.startswith(kinds):
                self.npu.free(piece)
