# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The stand-in RKNN runtime: what librknnrt 1.5.2 was measured to do with memory, and the mini
runtime beside it."""

import ctypes
import os
import sys
import time
import weakref

import rknn_model
from rknn_memory import MemoryCalls
from rknn_npu import Npu
from rknn_objects import (
    CONTEXT,
    CTX_INVALID,
    FAIL,
    INFO_ONLY,
    INTERNAL_OUTSIDE,
    MALLOC_FAIL,
    NO_FLUSH_INPUTS,
    NO_FLUSH_OUTPUTS,
    OUTSIDE,
    PARAM_INVALID,
    POISON,
    RELEASES,
    SHARE_WEIGHT,
    SUCC,
    ZERO_COPY,
    Context,
    Crash,
)
from rknn_queries import Queries

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from faults import Faults


# Contract. One Runtime is one process. Method names and arguments are those of rknn_api.h;
# pointers are integers. All sizes are bytes. What the real runtime does not check is not checked
# here either; with `strict` the damage raises Crash when the model runs. `run_seconds` is how long
# the NPU works on one run.
class Runtime(MemoryCalls, Queries):
    def __init__(self, profile, capacity, strict, version):
        self.profile = profile
        self.version = version
        self.release = RELEASES[version]
        self.npu = Npu(capacity)
        self.faults = Faults()
        self.strict = strict
        self.run_seconds = 0
        self.log = []
        self.dead = None
        self.pending = None
        self._contexts = {}
        self._mems = {}
        self._last = None

    # --- what tests ask ---

    def contexts(self):
        """Contexts that were not destroyed, failed ones included."""
        return [c for c in self._contexts.values() if c.alive]

    def leaks(self):
        """Tensor memories whose context is gone: lost until the process ends."""
        return [m for m in self._mems.values() if m.alive and not m.context.alive]

    def dma_alloc(self, nbytes):
        """A block from another program's heap (MMZ, dma-heap): give its fd, virt or phys to the
        create_mem_from calls."""
        return self.npu.block("external", nbytes)

    def point(self, name):
        """A fault point: its code, or None; an exception waits until the call has returned."""
        try:
            return self.faults.point(name)
        except BaseException as e:
            self.pending = e
            return None

    # --- contexts ---

    def init(self, out, model, size, flag, extend):
        """rknn_init: the context is set and keeps what it took even when it fails."""
        if not out:
            return CTX_INVALID
        context = self._new_context(flag, out)
        code = self._init(context, model, size, extend)
        context.failed = code != SUCC
        context.starved = code == MALLOC_FAIL and not context.flag & INFO_ONLY
        self._last = context
        return code

    def refused_init(self, code, out, *_):
        """rknn_init that fails at once: the context is set all the same."""
        if out:
            self._new_context(0, out).failed = True
        return code

    def _init(self, context, model, size, extend):
        data = self._read(model, size)
        spec = context.spec = rknn_model.parse(data) if data else None
        if context.flag & ZERO_COPY:
            context.file = self.npu.find(
                lambda b: b.virt <= model and model + size <= b.virt + b.taken
            )
            if context.file is None:
                raise self._crash(
                    "SIGSEGV: a model to be used where it is, out of the NPU's reach"
                )
        # a path: the file is in NPU memory before anything is looked at
        if (
            spec
            and not size
            and not self.profile.mini
            and not self._take(context, "file", len(data))
        ):
            return self._fail(
                self.release.refuses, "failed to malloc npu memory, size: %d" % len(data)
            )
        if spec is None:
            return self._fail(
                self.release.refuses, "load model failed, invalid RKNN_MAGIC or no such file"
            )
        if spec.version & 0xFF > self.release.container:
            return self._fail(self.release.refuses, "Invalid RKNN model version %d" % spec.version)
        if self.profile.soc not in spec.targets:
            text = "This rknn model is for %s, but current platform is %s" % (
                spec.targets[0].upper(),
                self.profile.soc.upper(),
            )
            return self._fail(self.release.refuses, text)
        for k, (kind, nbytes) in enumerate(self._pieces(context, size == 0)):
            if nbytes and not self._take(context, kind, nbytes):
                code = self._starve(context, k, kind)
                self._fail(code, "failed to malloc npu memory, size: %d" % nbytes)
                if code != SUCC:
                    return code
        if context.flag & SHARE_WEIGHT and (spec.shapes or not self._share(context, extend)):
            return self._fail(
                PARAM_INVALID, "RKNN_FLAG_SHARE_WEIGHT_MEM needs the context of the master"
            )
        return SUCC

    def _read(self, model, size):
        if not model:
            return b""
        if size:
            return ctypes.string_at(model, size)
        try:
            with open(ctypes.string_at(model).decode(), "rb") as f:
                return f.read()
        except OSError:
            return b""

    # What init ends with when there is no memory for its k-th piece; SUCC where it goes on as if
    # nothing was. Measured on each runtime with files of containers 2 and 6: newer files bring
    # down newer runtimes, which zero what they did not get.
    def _starve(self, context, k, kind):
        own = kind in ("regs", "blob", "outside", "more")
        if self.profile.mini or not own or not (self.release.splits or k == 0):
            return MALLOC_FAIL
        if not self.release.splits or (k == 0 and not context.spec.counted()):
            return self.release.refuses
        if not context.spec.counted():
            return SUCC
        if k == 0 or kind in ("regs", "more"):
            raise self._crash("SIGSEGV: rknn_init without memory for its registers")
        return self.release.refuses

    # What init takes, in order. A path keeps the whole file in NPU memory, a buffer only what the
    # model needs of it.
    def _pieces(self, context, path):
        spec, flag = context.spec, context.flag
        regs = [("regs", n) for n in (spec.regs if isinstance(spec.regs, list) else [spec.regs])]
        outside = [("outside", n) for n in spec.outside]
        inside = [("internal", spec.internal)]
        if self.profile.mini:
            own = regs + outside + [("weights", spec.weight)]
            return own if flag & OUTSIDE else own + inside
        if not self.release.splits:
            inside += self._io_pieces(context)
        elif flag & INTERNAL_OUTSIDE:
            inside = []
        if flag & INFO_ONLY:
            return [] if self.release.info or flag & OUTSIDE else inside
        if flag & OUTSIDE and spec.shapes:
            pairs = [piece for pair in zip(outside, regs) for piece in pair]
            return pairs[:2] + [("more", n) for _, n in pairs[2:]]
        if flag & OUTSIDE:
            return outside[:1] + regs + outside[1:]
        if spec.shapes:
            regs = regs[:1] + [("more", n) for _, n in regs[1:]]
        blob = [] if path or context.file else [("blob", spec.blob)]
        return (regs + blob if spec.counted() else blob + regs) + inside

    # Older runtimes make memory for inputs and outputs in init; set_internal_mem gives it back,
    # set_io_mem of an input that of the input.
    def _io_pieces(self, context):
        spec = context.spec
        inputs = [("input%d" % i, rknn_model.sizes(t)[2]) for i, t in enumerate(spec.inputs)]
        return inputs + [("output", 4 * rknn_model.sizes(t)[0]) for t in spec.outputs]

    def _take(self, context, kind, nbytes):
        # total_dma_allocated_size: requested bytes, nothing under INFO_ONLY; by newer runtimes a
        # file twice whose blob is in it; of older files not what stays beside external weights, of
        # a slave not its blob, of several shapes the first only
        piece = None if self.point("alloc " + kind) is not None else self.npu.take(kind, nbytes)
        if piece is None:
            return False
        context.own.append(piece)
        times = 1
        if kind == "file" and self.release.splits and not context.flag & OUTSIDE:
            times = 2
        elif (
            kind == "more"
            or (kind == "outside" and not context.spec.counted())
            or (kind == "blob" and context.flag & SHARE_WEIGHT)
        ):
            times = 0
        if self.profile.mini or not context.flag & INFO_ONLY:
            context.dma += nbytes * times
        return True

    def _share(self, context, extend):
        master = (
            self._contexts.get(CONTEXT.unpack(ctypes.string_at(extend, CONTEXT.size))[0])
            if extend
            else None
        )
        if master is None or not master.alive or self.profile.mini:
            return False
        context.master = master
        return True

    def hold_buffer(self, model):
        """Remembers the caller's model buffer: under MEM_ALLOC_OUTSIDE it must live until the
        weights are set."""
        if isinstance(model, ctypes.Array) and self._last and self._last.flag & OUTSIDE:
            self._last.buffer = weakref.ref(model)

    def dup_context(self, source, out):
        """rknn_dup_context: own registers, own internal memory, the weights of the first."""
        if self.profile.mini:
            return self._fail(FAIL, "rknn_dup_context is not supported")
        master, code = self._live(CONTEXT.unpack(ctypes.string_at(source, CONTEXT.size))[0])
        if code:
            return code
        if not master.flag & OUTSIDE:
            raise self._crash("SIGSEGV: rknn_dup_context of a context without MEM_ALLOC_OUTSIDE")
        context = self._new_context(master.flag, out)
        spec = master.spec.at(0) if master.spec.shapes else master.spec
        context.spec, context.master, context.weighed = spec, master, True
        context.relisted, context.retaken = master.relisted, master.retaken
        again, short = spec.regs if isinstance(spec.regs, list) else [spec.regs], False
        for i, nbytes in enumerate(again + (spec.outside if spec.counted() else [])):
            if not self._take(context, "more" if i and spec.shapes else "regs", nbytes):
                short = True
                self._fail(MALLOC_FAIL, "failed to malloc npu memory, size: %d" % nbytes)
                if not self.release.splits:
                    ctypes.memmove(out, CONTEXT.pack(0), CONTEXT.size)
                    context.failed = master.pinned = True
                    return MALLOC_FAIL
                if spec.counted():
                    raise self._crash("SIGSEGV: rknn_dup_context without memory")
        if not short:
            context.dma = master.dma
        master.dups.append(context)
        return SUCC

    def destroy(self, number):
        """rknn_destroy: frees what the runtime took, never the tensor_mems; a master waits for its
        dups."""
        context = self._contexts.get(number)
        if not number:
            return CTX_INVALID
        if context is None or not context.alive:
            raise self._crash("SIGSEGV: rknn_destroy of a context that is gone")
        if context.starved:
            raise self._crash("SIGSEGV: the destroy of a context whose init ran out of memory")
        context.alive = False
        self._reap(context)
        return SUCC

    def _reap(self, context):
        if any(dup.alive for dup in context.dups):
            return
        pinned = [piece for piece in context.own if piece.kind == "outside"][: context.pinned]
        for piece in context.own:
            if piece not in pinned:
                self.npu.free(piece)
        if context.master and not context.master.alive:
            self._reap(context.master)

    # --- running ---

    def run(self, number, extend):
        """rknn_run: works in the internal memory, destroys what another model left there, fills
        the outputs."""
        context, code = self._live(number)
        if code:
            return code
        mini = self.profile.mini
        if context.flag & INFO_ONLY and not mini:
            return self._fail(FAIL, "rknn_run is denied: RKNN_FLAG_COLLECT_MODEL_INFO_ONLY")
        inside = not context.flag & (OUTSIDE | INTERNAL_OUTSIDE)
        # 0x200 without internal memory was not measured: taken to end as 0x10 does
        if (context.internal is None and not inside) or (
            context.flag & OUTSIDE and not context.weighed
        ):
            if mini:
                return self._fail(FAIL, "rknn_run without internal or weight memory")
            raise self._crash("SIGSEGV: rknn_run without internal or weight memory")
        if len(context.io) < len(context.spec.inputs) + len(context.spec.outputs):
            return self._fail(FAIL, "tensor not attached") if mini else SUCC
        damage = self._damage(context)
        if damage and self.strict:
            raise self._crash("corrupt: " + damage)
        self._work(context, damage)
        return SUCC

    def _damage(self, context):
        master = context.master
        if context.internal and not context.internal.fits(context.spec.internal):
            return "internal memory is gone, misaligned or smaller than %d" % context.spec.internal
        if context.overrun or (master and master.overrun):
            return "weight memory is smaller than %d" % context.spec.weight
        if context.flag & SHARE_WEIGHT and not master.alive:
            return "the master of shared weights is gone"
        if context.file and context.file.freed:
            raise self._crash("SIGSEGV: the memory that the model was read into is gone")
        if any(mem.astray for mem in context.io.values()):
            raise self._crash("SIGSEGV: an input or output lies outside its memory")
        if context.internal and context.internal.block.busy:
            return "two models work in one internal memory at the same time"
        return None

    def _work(self, context, damage):
        block = context.internal.block if context.internal else None
        inputs = [self._bytes(context, (False, i)) for i in range(len(context.spec.inputs))]
        if block is not None:
            block.busy = True
            if self.run_seconds:
                time.sleep(self.run_seconds)
            block.busy = False
            self._ruin_others(context, block)
        for i in range(len(context.spec.outputs)):
            mem = context.io[(True, i)]
            data = rknn_model.answer(context.spec, i, inputs, context.told[(True, i)])
            mem.device = data if context.flag & NO_FLUSH_OUTPUTS else None
            if damage or mem.device:
                data = POISON * len(data)
            ctypes.memmove(mem.block.virt + mem.offset, data, len(data))

    # The rule of serial use, at its worst: what the others left to be read after their run is
    # gone.
    def _ruin_others(self, context, block):
        for other in self.contexts():
            if (
                self.strict
                and other is not context
                and other.internal
                and other.internal.block is block
            ):
                for (output, _), mem in other.io.items():
                    if output and mem.alive:
                        ctypes.memset(mem.block.virt + mem.offset, POISON[0], mem.size)

    def _bytes(self, context, key):
        mem = context.io[key]
        nbytes = rknn_model.memory(context.spec.inputs[key[1]], context.told[key])
        if context.flag & NO_FLUSH_INPUTS:
            return (mem.device or POISON * nbytes)[:nbytes]
        return ctypes.string_at(mem.block.virt + mem.offset, nbytes)

    # --- parts ---

    def _new_context(self, flag, out):
        number = 0x5000 + 0x40 * (len(self._contexts) + 1)
        context = self._contexts[number] = Context(number, flag)
        ctypes.memmove(out, CONTEXT.pack(number), CONTEXT.size)
        return context

    def _live(self, number):
        context = self._contexts.get(number)
        if context is None or (context.alive and context.failed):
            return None, CTX_INVALID
        if not context.alive:
            raise self._crash("SIGSEGV: use of a context after rknn_destroy")
        return context, SUCC

    def _fail(self, code, text):
        self.log.append(text)
        return code

    def _crash(self, text):
        self.dead = Crash(text)
        return self.dead
