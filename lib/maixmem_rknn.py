# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for Rockchip NPUs (RK3562, RK3566, RK3568, RK3588, RV1103, RV1106): librknnrt over ctypes.

    port = maixmem.set_port(maixmem_rknn.Port())
    detector, classifier = port.load("yolo.rknn"), port.load("mobilenet.rknn")
    boxes = detector.run(frame)

Models are loaded from a buffer, their weights stay, and they compute in one shared block that is as large as the largest needs:
two models save the smaller of their two internal memories. What was measured (runtime 1.5.2, two models, peak bytes):
separate, from paths 6,983,680; separate, from buffers 6,578,176; shared with flag 0x200 from buffers 5,464,064; shared with
flag 0x10 from paths, as the vendor's guide and demo have it, 8,175,616, because the file stays and its weights are copied out.
"""

import ctypes
import zlib

import maixmem_generic
from maixmem import KModelError, NoRoom, Region, kib
from maixmem_librknn import Runtime, open_library
from maixmem_rknnapi import (
    INFO_ONLY,
    INPUT_ATTR,
    MALLOC_FAIL,
    MODEL_INVALID,
    NATIVE_INPUT_ATTR,
    NATIVE_OUTPUT_ATTR,
    OUTPUT_ATTR,
    OUTSIDE,
    PAGE,
    RknnError,
    pages,
)
from maixmem_rknnarena import Arena, Turn
from maixmem_rknncost import Facts, How, RknnCost
from maixmem_rknnfile import read_file
from maixmem_rknnmodel import Model

# The bytes that a load reports are the sum of its requests. The driver takes whole pages for each, and a load from a buffer
# was seen to make up to three: so much more may be taken.
_ROUNDING = 2 * PAGE
_DEVICE_TREE = "/proc/device-tree/compatible"
_MEASURED_ON = "1.5.2"


# Contract. Owns the loaded models, the shared block and the ledger of NPU bytes; one Port per process. `budget` caps the NPU
# bytes of this port (None: what the system has), `reserve` sizes the shared block ahead, `arena` is a Block to use instead,
# `soc` overrides the device tree, `cma` says that NPU memory comes from CMA (the mini chips; boards without IOMMU).
# The room is checked before every init, because a failed init keeps memory. Failure of load leaves the other models as
# they were and nothing of the new one; unload cannot fail half-way. What the system does not tell is None, and loads want a budget. `lib.lost` counts bytes that the runtime kept.
class Port(maixmem_generic.Port):
    """Rockchip NPU: several models resident, one working memory."""

    name = "rknn"
    share = "arena"

    def __init__(self, library=None, *, soc=None, budget=None, reserve=0, arena=None, cma=None):
        super().__init__()
        self.lib = Runtime(library or open_library())
        self.soc = soc.lower() if soc else _read_soc()
        self.budget = budget
        self.models = []
        self.version = None
        self.sram = (0, 0)
        self.serial = Turn()
        self.arena = Arena(self.lib, self._create, reserve, arena)
        self.watched = ("npu",)
        self._cma = self.lib.mini if cma is None else cma
        self._known = {}

    # --- what there is ---

    @property
    def used(self):
        """NPU bytes of this port, at most: page-rounded where we asked, as reported where the runtime did."""
        return (
            self.lib.used
            + self.lib.lost
            + sum([m.resident for m in self.models])
            + self.arena.late_bytes
        )

    def regions(self):
        """RAM, CMA where there is any, the NPU's ledger, the shared block and SRAM."""
        rows = super().regions()
        rows.append(Region("npu", self.budget, self.used, self._free(), exact=False))
        if self.arena.size:
            need = max([0] + [m.internal for m in self.arena.users])
            rows.append(Region("arena", self.arena.size, need, self.arena.size - need))
        if self.sram[0]:
            total, free = self.sram  # as the last load found it
            rows.append(Region("sram", total, total - free, free, exact=False))
        return rows

    def warnings(self):
        """Memory that the runtime kept, and figures that are from another version of it."""
        found = []
        if self.lib.lost:
            found.append(
                "{} of NPU memory are lost until this process ends: restart it".format(
                    kib(self.lib.lost)
                )
            )
        if self.version and not self.version.startswith(_MEASURED_ON):
            text = "runtime {}: forecasts were measured on {}, a first load may differ"
            found.append(text.format(self.version, _MEASURED_ON))
        return found

    def room(self, region):
        """Free bytes of a region; of "npu" with the shared block, which a load may count on."""
        if region == "npu":
            return (self._free() or 0) + pages(self.arena.size)
        return super().room(region)

    def shortage(self, cost, margin=0, going=()):
        """None when a load of `cost` would fit now with `margin` bytes to spare, else a NoRoom that says what is missing.

        `going` are models taken as unloaded. A cost that could not be asked for before is asked for here.
        """
        cost.update(cost.facts)
        free = self._free()
        if free is None:
            text = "{}: needs {} bytes of NPU memory, free NPU memory cannot be read: give Port(budget=bytes)"
            need = cost.peak["npu"]
            return NoRoom(text.format(_name(cost.source), need), "npu", need, None)
        if cost.facts is None and pages(cost.nbytes) <= free and not going:
            self._ask(cost, _buffer(cost.source))
        arena = self.arena
        size, freed = arena.without(going)
        freed += sum([m.resident + self.lib.held(m.ctx, arena.mem) for m in going])
        need = cost.peak["npu"]
        if cost.how.shared and cost.facts:
            grown = arena.grown(cost.internal, size)
            need += (pages(grown) if grown > size else 0) - pages(cost.internal)
            text = arena.blocked(cost.internal, size, [m for m in arena.users if m not in going])
            if text:
                return NoRoom(
                    "{}: {}".format(_name(cost.source), text), "arena", cost.internal, size
                )
        if need + margin <= free + freed:
            return None
        text = "{}: {} bytes of NPU memory and {} to spare, {} are free: unload a model"
        return NoRoom(
            text.format(_name(cost.source), need, margin, free + freed), "npu", need, free + freed
        )

    def sample(self, free):
        """Puts the free bytes of the NPU into the list `free`; it stays as it was when they cannot be read."""
        now = self._free()
        if now is not None:
            free[0] = now

    def inspect(self, source, **how):
        """What load(source, **how) would take; asks the runtime when there is room for the file to do that."""
        self.serial.take(self)
        try:
            return self._inspect(_buffer(source), source, How(**how))
        finally:
            self.serial.give()

    # --- loading ---

    def load(self, source, **how):
        """A Model from a path or from bytes.

        shared=False   its own internal memory and turn, so that it can run beside others (and for dynamic shapes)
        dup=True       as shared=False, and Port.dup() can make more of it on the same weights
        master=model   same weights as `model`, which was converted with remove_weight=False and must be unloaded last
                       (several resolutions of one network; after runtime 1.5.0 dynamic shapes do that in one model)
        weights=Block, internal=Block   memory of the caller instead of new memory
        """
        self.serial.take(self)
        try:
            return self._load(source, How(**how))
        finally:
            self.serial.give()

    def dup(self, model):
        """Another Model on the weights of `model`, which was loaded with dup=True, for another thread."""
        self.serial.take(self)
        try:
            self._check_mine(model)
            if not model.can_dup:
                raise ValueError("{}: load it with dup=True to have more of it".format(model))
            cost = RknnCost(model.name, How(twin=True, master=model), 0, False)
            cost.facts = model.facts
            cost.learn(model.resident + pages(model.internal) + model.io)
            self._must_fit(cost)
            twin = Model(self, model.name, Turn())
            twin.ctx = self.lib.dup(model.ctx)
            return self._fill(twin, cost)
        finally:
            self.serial.give()

    def unload(self, handle):
        """Ends a Model: its memories, then its context. Harmless when it has ended; ValueError while others use its weights or slices of its views."""
        handle.turn.take(self)  # waits for its run, which may itself wait for the port's turn
        try:
            self.serial.take(self)
            try:
                self._unload(handle)
            finally:
                self.serial.give()
        finally:
            handle.turn.give()

    def _unload(self, handle):
        if handle.ctx is None:
            return
        self._check_mine(handle)
        if handle.users:
            text = "{} models work on the weights of {}: unload them first"
            raise ValueError(text.format(len(handle.users), handle))
        handle.check_views()
        self._close(handle)

    def new_image(self, w, h, format):
        """Always NotImplementedError."""
        raise NotImplementedError("RKNN has no images: write into a model's inputs[i].view()")

    def copy_into(self, dst, src):
        """Always NotImplementedError: see new_image()."""
        return self.new_image(0, 0, None)

    # --- parts ---

    def _free(self):
        system = maixmem_generic.meminfo().get("CmaFree" if self._cma else "MemAvailable")
        budget = None if self.budget is None else self.budget - self.used
        known = [n for n in (system, budget) if n is not None]
        return max(0, min(known)) if known else None

    def _create(self, ctx, nbytes):
        free = self._free()
        fits = free is None or pages(nbytes) <= free
        mem = self.lib.create_mem(ctx, nbytes) if fits else None
        if mem is None:
            text = "{} bytes of NPU memory, {} are free: unload a model. rknn_create_mem: NULL"
            raise NoRoom(text.format(nbytes, free), "npu", nbytes, free)
        return mem

    def _check_mine(self, model):
        if model not in self.models:
            raise ValueError("{}: not loaded here, or unloaded already".format(model))

    def _must_fit(self, cost):
        short = self.shortage(cost, 0)
        if short:
            raise short

    def _inspect(self, data, source, how):
        text = read_file(data).refuse(self.soc)
        mini = self.lib.mini
        if text is None and how.master and (mini or how.master not in self.models):
            text = "shared weights need a loaded master, and a chip other than RV1103 and RV1106"
        if text is None and how.dup and mini:
            text = "rknn_dup_context is missing on RV1103 and RV1106"
        cost = RknnCost(source, how, len(data), mini, text)
        if text is None and pages(len(data)) <= (self._free() or 0):
            self._ask(cost, data)
        return cost

    # Weight and internal sizes by the info-only flag, which takes the file's size meanwhile; the mini runtime does not know
    # it and takes a normal context. Asked once per content.
    def _ask(self, cost, data):
        key = (len(data), zlib.crc32(data))
        if key not in self._known:
            ctx = self._init(data, OUTSIDE if self.lib.mini else INFO_ONLY, None, cost.source)
            try:
                self.version = self.lib.version(ctx)
                self._known[key] = Facts(self.lib.mem_size(ctx))
            finally:
                self.lib.destroy(ctx, pages(len(data)))
        cost.update(self._known[key])
        least = cost.least()
        if self.budget is not None and least > self.budget:
            text = "{} bytes of NPU memory at least, the budget is {}"
            cost.refuse = text.format(least, self.budget)
        if cost.how.shared and self.arena.outside:
            cost.refuse = self.arena.blocked(cost.internal, self.arena.size, ())

    def _load(self, source, how):
        data = _buffer(source)
        cost = self._inspect(data, source, how)
        if cost.refuse:
            raise KModelError("{}: {}".format(_name(source), cost.refuse))
        self._must_fit(cost)
        model = Model(self, _name(source), self.serial if how.shared else Turn())
        model.ctx = self._init(data, how.flag(self.lib.mini), how.master, source)
        return self._fill(model, cost)  # `data` must live until the weights are set

    def _init(self, data, flag, master, source):
        before = self.lib.abandoned
        try:
            return self.lib.init(data, flag, master.ctx if master else 0)
        except RknnError as e:
            if self.lib.abandoned > before:
                self.lib.lost += pages(len(data))
            if e.code == MALLOC_FAIL:
                text = "{}: NPU memory ran out, {} bytes are free: unload a model. {}"
                free = self._free()
                raise NoRoom(text.format(_name(source), free, e), "npu", pages(len(data)), free)
            raise RknnError(_explain(source, data, flag, self._free(), e.code), e.code)

    # Everything after a context exists; on any failure it goes again, with all that was made for it. What the load will
    # take is known, and learnt, before anything is allocated.
    def _fill(self, model, cost):
        lib, ctx, how = self.lib, model.ctx, cost.how
        try:
            size = lib.mem_size(ctx)
            facts = model.facts = cost.facts
            model.weight, model.internal = facts.weight, facts.internal
            model.resident = pages(size.dma) + _ROUNDING
            model.can_dup = how.dup
            self.sram = (size.sram, size.sram_free)
            native = (NATIVE_INPUT_ATTR, NATIVE_OUTPUT_ATTR)
            model.describe(native if lib.mini else (INPUT_ATTR, OUTPUT_ATTR))
            outside = how.flag(lib.mini) & OUTSIDE and not how.twin
            weights = facts.weight if outside and how.weights is None else 0
            internal = facts.internal if how.given and how.internal is None else 0
            cost.learn(model.resident + pages(weights) + pages(internal) + model.io)
            if outside:
                lib.set_weight(ctx, self._memory(ctx, how.weights, facts.weight), facts.weight)
            if how.shared:
                self.arena.add(model)
            elif how.given:
                mem = self._memory(ctx, how.internal, facts.internal)
                lib.set_internal(ctx, mem, facts.internal)
            for tensor in model.inputs + model.outputs:
                tensor.allocate(self._create)
        except BaseException:
            self._discard(model)
            raise
        model.master = how.master
        if model.master:
            model.master.users.append(model)
        self.models.append(model)
        return model

    # A block of the caller is taken as it is: the guide rounds its sizes to 128, the vendor's demo does not.
    def _memory(self, ctx, block, nbytes):
        return self._create(ctx, nbytes) if block is None else self.lib.view(ctx, block, nbytes)

    def _close(self, model):
        self.models.remove(model)
        if model.master:
            model.master.users.remove(model)
        self._discard(model)

    def _discard(self, model):
        try:
            self.arena.leave(model)
        finally:
            ctx, model.ctx = model.ctx, None
            if self.arena.owner == ctx:
                self.arena.keep(ctx, model.resident)
            else:
                # should the runtime refuse, then what this model shares is never given back either
                shared = model.master.resident if model.master else 0
                self.lib.destroy(ctx, model.resident + shared)


def _name(source):
    return source if isinstance(source, str) else "model from memory"


# With the info-only flag the runtime was seen to say -6, a bad model, when its memory ran out too.
def _explain(source, data, flag, free, code):
    text = "{} ({} bytes, {} are free)"
    if flag == INFO_ONLY and code == MODEL_INVALID:
        text += ": perhaps NPU memory ran out, unload a model; else convert it for this chip and runtime"
    text += ". rknn_init with flag 0x{:x}"
    return text.format(_name(source), len(data), free, flag)


# A ctypes array: the runtime reads it after rknn_init has returned, so it must be ours.
def _buffer(source):
    if not isinstance(source, str):
        return (ctypes.c_ubyte * len(source)).from_buffer_copy(source)
    with open(source, "rb") as f:
        data = (ctypes.c_ubyte * f.seek(0, 2))()
        f.seek(0)
        f.readinto(data)
    return data


def _read_soc():
    try:
        with open(_DEVICE_TREE, "rb") as f:
            names = f.read().decode().split("\0")
    except (OSError, ValueError):
        return None
    for name in names:
        vendor, _, chip = name.partition(",")
        if vendor == "rockchip" and "-" not in chip:
            return chip
    return None
