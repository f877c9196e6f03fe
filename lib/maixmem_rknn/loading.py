# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The steps of loading an RKNN model: ask what it takes, make its context, give it memory."""

from __future__ import annotations

import ctypes
import os
import zlib
from typing import Any, Protocol

from maixmem import KModelError, NoRoom
from maixmem_linux import process
from maixmem_text import like, say, tell

from maixmem_rknn import librknnrt, trial
from maixmem_rknn.api import INFO_ONLY, NO_CONTEXT, OUTSIDE, PAGE, pages
from maixmem_rknn.arena import Arena
from maixmem_rknn.block import Block
from maixmem_rknn.container import RknnFile, read_file
from maixmem_rknn.cost import LoadOptions, ModelSizes, RknnCost, uncounted, with_own
from maixmem_rknn.errors import MALLOC_FAIL, PERHAPS_MEMORY, RknnError
from maixmem_rknn.lock import ExclusiveLock
from maixmem_rknn.model import Model, io_attrs
from maixmem_rknn.runtime import Runtime
from maixmem_rknn.shapes import Shapes

# What the runtime takes of a file besides the memory that is its caller's was at most the file and
# this.
_ASKING = 4 * PAGE
# 1.5.2 ends the process over them, older ones say -6; registering them came with 1.6.0
_NO_OPERATORS = "has an operator of its own ({}), which {} cannot have: update librknnrt to 1.6.0 "
_NO_OPERATORS += "or newer, and register it there"
_ENDS = (
    "{0} {1} when it is asked about this file: a damaged one, or for another chip.\ncopy it again"
)
_ENDS += "\nconvert it with the runtime's own RKNN-Toolkit2 for this chip"


class Books(Protocol):
    """What the port has: the room, the lock and the models."""

    lib: Runtime
    arena: Arena
    lock: ExclusiveLock
    models: list[Model]
    soc: str | None
    budget: int | None
    version: str | None
    sram: tuple[int, int]

    @property
    def used(self) -> int:
        """NPU bytes of the port, at most."""

    def free_npu(self) -> int | None:
        """Bytes that may still be taken."""

    def check_fit(self, cost: RknnCost, margin: int = 0) -> NoRoom | None:
        """What is missing for a load."""

    def create(self, ctx: int, nbytes: int, flags: int = 0) -> Any:
        """Memory made with a context, or NoRoom."""


# Contract. Of the port, which has the lock, the books and the room; keeps what was learnt of each
# file. On any failure nothing of a new model stays, and the others are as they were; but for what
# an rknn_init keeps when memory runs out within it and the runtime does not give back, counted in
# `leaked_bytes` (kept.py).
class Loader:
    """Loads models for a port."""

    def __init__(self, books: Books) -> None:
        self._port = books
        self._lib = books.lib
        self._known: dict[tuple[int, int, int], ModelSizes] = {}
        self._ends: dict[Any, str | None] = {}

    # --- what it will take ---

    def inspect(self, data: Any, source: Any, options: LoadOptions) -> RknnCost:
        """The RknnCost of a file; asks the runtime when there is room to."""
        port, lib = self._port, self._lib
        file = read_file(data)
        text = file.refuse(port.soc) or options.refuse(lib)
        if text is None and options.master and (lib.mini or options.master not in port.models):
            text = "shared weights need a loaded master, and a chip other than RV1103 and RV1106"
        if text is None and options.dup and (lib.mini or not lib.has("rknn_dup_context")):
            text = say(f"{lib.name} cannot duplicate a context.", "load it twice")
        if text is None and file.several and not lib.mini:
            text = self._refuse_shapes(options)
        if text is None and file.operators and not lib.has("rknn_mem_sync"):
            text = _NO_OPERATORS.format(" and ".join(file.operators), lib.name)
        cost = RknnCost(source, options, len(data), lib, text)
        if text is None:
            self.ask(cost, data, file)
        return cost

    # Runtimes before 1.5.2 have another call for it, which was not seen to work; without one a
    # load would end the process.
    def _refuse_shapes(self, options: LoadOptions) -> str | None:
        if not self._lib.has("rknn_set_input_shapes"):
            text = "converted for several shapes, and {} has no rknn_set_input_shapes: update "
            text += "librknnrt to 1.5.2 or newer"
            return text.format(self._lib.name)
        if options.master:
            what = "converted for several shapes: the runtime shares no weights of such models."
            return say(what, "Model.set_shapes()")
        return None

    def ask(self, cost: RknnCost, data: Any, file: RknnFile | None = None) -> None:
        """Weight, internal, input and output bytes by a context of the kind that the load will
        make; once per content.

        Where the runtime makes all memory, it is queried with the flag for the smallest
        allocation, and what the other adds is reckoned, until a load has shown it. Without room to
        ask the file's size is all there is.
        """
        port, lib, options = self._port, self._lib, cost.options
        key = (len(data), zlib.crc32(data), options.flag(lib))
        room = port.free_npu() or 0
        fits = self.asking(cost) <= room and not process.short_of("", cost.files)
        if key not in self._known and not options.zero_copy and fits:
            least = options.flag(lib) if options.external else LoadOptions().flag(lib)
            cost.refuse = self._refuse_ended(key, data, least, options.external)
            if not cost.refuse:
                self._known[key] = self.measure(data, least, options.external, cost.source, file)
        if key not in self._known:
            return
        cost.update(self._known[key])
        least = cost.least()
        if port.budget is not None and least > port.budget:
            text = "{} bytes of NPU memory at least, the budget is {}"
            cost.refuse = text.format(least, port.budget)
        if cost.options.shared and port.arena.outside and cost.internal:
            cost.refuse = port.arena.blocked(cost.internal, port.arena.size, ())

    # Once for each content and way of loading.
    def _refuse_ended(self, key: Any, data: Any, flag: int, external: bool) -> str | None:
        if key not in self._ends:
            self._ends[key] = trial.ended(self._lib.library, data, flag, external)
        how = self._ends[key]
        return how and tell(_ENDS, self._lib.name, how)

    def measure(
        self,
        data: Any,
        flag: int,
        external: bool,
        source: Any = None,
        file: RknnFile | None = None,
    ) -> ModelSizes:
        """The ModelSizes of a file, by a context made with `flag`."""
        lib, file = self._lib, file or read_file(data)
        ctx = self._init(data, flag, None, source, file)
        try:
            self._port.version = lib.version(ctx)
            found = self._sizes(ctx, flag, file)
            return found if external else with_own(found, file, lib, ctx)
        finally:
            lib.destroy(ctx, pages(len(data)))

    def _sizes(self, ctx: int, flag: int, file: RknnFile) -> ModelSizes:
        lib = self._lib
        places = Shapes(lib, ctx, file.several).places
        return ModelSizes(lib.mem_size(ctx), flag, file, io_attrs(lib, ctx), places)

    @staticmethod
    def asking(cost: RknnCost) -> int:
        """Bytes of NPU memory that must be free to ask."""
        return pages(cost.nbytes) + _ASKING

    # --- loading ---

    def load(self, source: Any, options: LoadOptions) -> Model:
        """A Model with all its memory."""
        port = self._port
        data = buffer(source)
        cost = self.inspect(data, source, options)
        if cost.refuse:
            raise KModelError(like(cost.refuse, f"{name_of(source)}: {cost.refuse}"))
        self._must_fit(cost)
        lock = port.lock if options.shared else ExclusiveLock(name_of(source))
        model = Model(port, name_of(source), lock, options.inputs, options.outputs)
        file = read_file(data)
        flag = options.flag(self._lib)
        key = (len(data), zlib.crc32(data), flag)
        mem = port.create(0, len(data), NO_CONTEXT) if options.zero_copy else None
        try:
            if mem:
                ctypes.memmove(mem.contents.virt, data, len(data))
                data = type(data).from_address(mem.contents.virt)
            model.ctx = self._init(data, flag, options.master, source, file)
        except BaseException:
            self._lib.release([(0, mem)] if mem else [])
            raise
        if mem:
            self._lib.files[model.ctx] = mem
        return self._fill(model, cost, key, file)  # `data` must live until the weights are set

    def dup(self, model: Model, cores: Any) -> Model:
        """Another context on the weights of a model, with its own lock."""
        if not model.can_dup or model.sizes is None:
            raise ValueError(f"{model}: load it with dup=True to have more of it")
        inputs, outputs = model.options
        how: Any = {"inputs": inputs, "outputs": outputs, "cores": cores}
        options = LoadOptions(duplicate=True, master=model, **how)
        options.flushes = model.flushes  # a flag of its context
        cost = RknnCost(model.name, options, 0, self._lib, None)
        cost.update(model.sizes)
        self._must_fit(cost)
        need = pages(model.sizes.dma)
        self._ask_driver(model.require_ctx(), need, model.name)
        twin = Model(self._port, model.name, ExclusiveLock(model.name), inputs, outputs)
        try:
            twin.ctx = self._lib.dup(model.require_ctx())
        except RknnError as e:
            raise (self._ran_out(model.name, need, e) if e.code == MALLOC_FAIL else e) from None
        return self._fill(twin, cost, None, None, model.sets)

    def _must_fit(self, cost: RknnCost) -> None:
        short = self._port.check_fit(cost, 0)
        if short:
            raise short

    def _init(
        self, data: Any, flag: int, master: Model | None, source: Any, file: RknnFile
    ) -> int:
        lib = self._lib
        try:
            self._try_memory(data, source, flag)
            return lib.init(data, flag, master.require_ctx() if master else 0)
        except RknnError as e:
            if e.held:
                lib.leaked_bytes += pages(uncounted(flag, file, e.held.weight))
            free = self._port.free_npu()
            if e.code == MALLOC_FAIL:
                raise self._ran_out(name_of(source), pages(len(data)), e) from None
            text = _explain(source, file, flag, free, e.code)
            refused = KModelError(*RknnError(text, e.code).args)
            refused.code = e.code
            raise refused from None

    def _ran_out(self, name: str, need: int, e: RknnError) -> NoRoom:
        free = self._port.free_npu()
        text = "{}: NPU memory ran out, {} bytes are free: unload a model. {}"
        short = NoRoom(text.format(name, free, e), "npu", need, free)
        short.code = e.code
        return short

    # A runtime whose rknn_init runs out of memory ends the process, there or in the destroy of
    # what is left, or says that all is well. A context that only describes the file takes none:
    # with that the driver is asked before, and can refuse.
    def _try_memory(self, data: Any, source: Any, flag: int) -> None:
        if self._lib.mini:
            return
        known = self._known.get((len(data), zlib.crc32(data), flag))
        need = pages(known.taken if known and known.taken else len(data))
        ctx = self._lib.init(data, OUTSIDE | INFO_ONLY)
        try:
            self._ask_driver(ctx, need, name_of(source))
        finally:
            self._lib.destroy(ctx)

    def _ask_driver(self, ctx: int, need: int, name: str) -> None:
        short = process.no_addresses(name, need)
        if short:
            raise short
        mem = self._lib.create_mem(ctx, need)
        if mem is None:
            text = (
                "{}: the driver has not the {} bytes of NPU memory that the runtime takes, {} are "
            )
            text += "free: unload a model"
            free = self._port.free_npu()
            raise NoRoom(text.format(name, need, free), "npu", need, free)
        self._lib.release([(ctx, mem)])

    # Everything after a context exists; on any failure it goes again, with all that was made for
    # it. What the load will take is known, and learnt, before anything is allocated.
    def _fill(
        self,
        model: Model,
        cost: RknnCost,
        key: Any,
        file: RknnFile | None,
        shapes: Shapes | None = None,
    ) -> Model:
        port, lib, options = self._port, self._lib, cost.options
        ctx = model.require_ctx()
        flag = options.flag(lib)
        lib.names[ctx] = model.name
        try:
            size = lib.mem_size(ctx)
            if file is not None:
                self._compare(cost, key, self._sizes(ctx, flag, file))
            sizes = model.sizes = cost.sizes
            assert sizes is not None
            if size.dma < sizes.dma and lib.is_measured(ctx):
                raise _short(cost, int(size.dma))
            self._hold_to_budget(cost)
            model.start(shapes or Shapes(lib, ctx, sizes.places > 1))
            model.weight, model.internal = sizes.weight, sizes.internal
            model.resident = sizes.counted if options.duplicate else sizes.resident
            model.can_dup, model.flushes = options.dup, options.flushes
            if options.cores:
                lib.set_cores(ctx, options.cores)
            port.sram = (size.sram, size.sram_free)
            model.describe()
            if flag & OUTSIDE and not options.duplicate:
                lib.set_weight(ctx, self._memory(ctx, options.weights, sizes.weight), sizes.weight)
            if options.shared:
                port.arena.add(model)
            elif options.external:
                mem = self._memory(ctx, options.internal, sizes.internal)
                lib.set_internal(ctx, mem, sizes.internal)
            for tensor in model.inputs + model.outputs:
                tensor.allocate(port.create)
        except BaseException:
            self.discard(model)
            raise
        model.master = options.master
        if model.master:
            model.master.users.append(model)
        port.models.append(model)
        return model

    # What was only reckoned is known now, and the runtime has taken it.
    def _hold_to_budget(self, cost: RknnCost) -> None:
        port = self._port
        need = cost.need["npu"]
        if cost.options.external or port.budget is None or port.used + need <= port.budget:
            return
        text = "{}: takes {} bytes of NPU memory, {} of the budget are free: unload a model"
        free = port.budget - port.used
        raise NoRoom(text.format(name_of(cost.source), need, free), "npu", need, free)

    # Some runtimes were seen to return success when the driver had no memory for a part of the
    # model; their sum of bytes is smaller then than the same file's was before.
    def _compare(self, cost: RknnCost, key: Any, now: ModelSizes) -> None:
        known = cost.sizes
        if known is None or now.dma > known.dma or known.reckoned:
            self._known[key] = now
            cost.update(now)
        elif now.dma < known.dma:
            raise _short(cost, now.dma)

    # A block of the caller is taken as it is: the guide rounds its sizes to 128, the vendor's demo
    # does not.
    def _memory(self, ctx: int, block: Block | None, nbytes: int) -> Any:
        if block is None:
            return self._port.create(ctx, nbytes)
        return self._lib.view(ctx, block, nbytes)

    # --- the end ---

    def close(self, model: Model) -> None:
        """Takes a model off the books and ends it."""
        self._port.models.remove(model)
        if model.master:
            model.master.users.remove(model)
        self.discard(model)

    def discard(self, model: Model) -> None:
        """Ends the context of a model and all memory that was allocated for it."""
        arena = self._port.arena
        try:
            arena.remove(model)
        finally:
            ctx, model.ctx = model.ctx, None
            if ctx is None:
                pass
            elif arena.owner == ctx:
                arena.defer_destroy(ctx, model.resident)
            else:
                # should the runtime refuse, then what this model shares is never given back either
                shared = model.master.resident if model.master else 0
                self._lib.destroy(ctx, model.resident + shared)


def _short(cost: RknnCost, has: int) -> NoRoom:
    had = cost.sizes.dma if cost.sizes else 0
    text = (
        "{}: the runtime says that it is loaded, but holds {} bytes where it had {}: NPU memory "
    )
    text += "ran out, unload a model"
    return NoRoom(text.format(name_of(cost.source), has, had), "npu", had, has)


def name_of(source: Any) -> str:
    """What messages call a source."""
    return source if isinstance(source, str) else "model from memory"


# A ctypes array: the runtime reads it after rknn_init has returned, so it must be ours.
def buffer(source: Any) -> Any:
    """The bytes of a path or of a bytes-like object in memory of our own."""
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    if source is None or isinstance(source, int):  # a flash address, as a K210's models have
        raise TypeError(f"{source!r}: give a path, or the bytes of a .rknn file")
    if not isinstance(source, str):
        return (ctypes.c_ubyte * len(source)).from_buffer_copy(source)
    with open(source, "rb") as f:
        data = (ctypes.c_ubyte * f.seek(0, 2))()
        f.seek(0)
        f.readinto(data)
    return data


# The runtime's codes for a missing driver, a file newer than itself, one for another chip and
# memory that ran out while it read are -1 and -6, in any order: what can be seen from here is
# said.
def _explain(source: Any, file: RknnFile, flag: int, free: int | None, code: int) -> str:
    text = "{} (container {}, {}; {} bytes, {} are free)"
    by = f"made by RKNN-Toolkit {file.toolkit}" if file.toolkit else "its toolkit is not named"
    text = text.format(name_of(source), file.version & 0xFF, by, file.nbytes, free)
    steps = []
    if not librknnrt.has_driver():
        text += ": this system has no NPU driver (no /dev/dri/card*, no /dev/rknpu)"
        steps = ["load the rknpu module, or take the vendor's kernel"]
    else:
        text += ": the runtime may be older than the file (update librknnrt, or convert with its "
        text += "own RKNN-Toolkit2)"
        if code in PERHAPS_MEMORY:
            text += ", or NPU memory ran out (unload a model)"
    return say(f"{text}. rknn_init with flag 0x{flag:x}", *steps)
