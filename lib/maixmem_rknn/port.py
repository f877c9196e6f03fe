# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for Rockchip NPUs (RK3562, RK3566, RK3568, RK3576, RK3588, RV1103, RV1106, RV1126B).

    port = maixmem.set_port(maixmem_rknn.Port())
    detector, classifier = port.load("yolo.rknn"), port.load("mobilenet.rknn")
    boxes = detector.run(frame)

Models are loaded from a buffer, their weights stay, and they compute in one shared block that is
as large as the largest needs: two models save the smaller of their two internal memories. What was
measured (runtime 1.5.2, two models, peak bytes): separate, from paths 6,983,680; separate, from
buffers 6,578,176; shared with flag 0x200 from buffers 5,464,064; shared with flag 0x10 from paths,
as the vendor's guide and demo have it, 8,175,616, because the file stays and its weights are
copied out.
"""

from __future__ import annotations

import contextlib
import glob
from collections.abc import Collection
from typing import Any

import maixmem_generic
from maixmem import NoRoom, Region
from maixmem_linux import process
from maixmem_linux.whole import whole
from maixmem_report import kib
from maixmem_text import tell

from maixmem_rknn import errors
from maixmem_rknn.api import pages
from maixmem_rknn.arena import Arena
from maixmem_rknn.block import Block
from maixmem_rknn.container import is_known
from maixmem_rknn.cost import RknnCost
from maixmem_rknn.cost import options as options_of
from maixmem_rknn.librknnrt import open_library
from maixmem_rknn.loading import Loader, buffer, name_of
from maixmem_rknn.lock import ExclusiveLock, LockError
from maixmem_rknn.model import Model
from maixmem_rknn.runtime import Runtime

_DEVICE_TREE = "/proc/device-tree/compatible"
_DOMAIN = 4 << 30  # addresses of 32 bits, of all programs: rknn-toolkit2 287, rknn-llm 195
_IOMMU = "/sys/bus/platform/devices/*npu*/iommu_group"
_NPU = "/sys/bus/platform/devices/*npu*"


# Contract. Owns the loaded models, the shared block and the ledger of NPU bytes; one Port per
# process. `budget` caps the NPU bytes of this port (None: what the system has), `reserve` sizes
# the shared block ahead, `arena` is a Block to use instead, `soc` overrides the device tree, `cma`
# says that NPU memory comes from CMA (the mini chips; boards without IOMMU). The room is checked
# before every init, because a failed init keeps memory. Failure of load leaves the other models as
# they were and nothing of the new one; unload cannot fail half-way. What the system does not tell
# is None, and loads want a budget. `lib.leaked_bytes` counts bytes that the runtime kept.
# `version` of runtime and driver is known once a file was asked.
class Port(maixmem_generic.Port):
    """Rockchip NPU: several models resident, one working memory."""

    name = "rknn"
    share = "arena"
    uninterrupted = (
        True  # the manager's calls are not cut short by signals: see maixmem_linux.whole
    )

    def __init__(
        self,
        library: Any = None,
        *,
        soc: str | None = None,
        budget: int | None = None,
        reserve: int = 0,
        arena: Block | None = None,
        cma: bool | None = None,
    ) -> None:
        super().__init__()
        self.lib = Runtime(library or open_library())
        self.soc = soc.lower() if soc else _read_soc()
        self.budget = budget
        self.models: list[Model] = []
        self.version: str | None = None
        self.sram = (0, 0)
        self.lock = ExclusiveLock("this port")
        self.arena = Arena(self.lib, self.create, reserve, arena)
        self.watched: tuple[str, ...] = ("npu",)
        self._cma = (self.lib.mini or _has_no_iommu()) if cma is None else cma
        self._loader = Loader(self)
        self.growth = process.Growth(self.models)

    # --- what there is ---

    @property
    def used(self) -> int:
        """NPU bytes of this port, at most: page-rounded where we allocated, as reported where the
        runtime did."""
        own = self.lib.used + self.lib.leaked_bytes
        return own + sum([m.resident for m in self.models]) + self.arena.deferred_bytes

    def regions(self) -> list[Region]:
        """RAM, CMA where there is any, the NPU's ledger, the shared block and SRAM."""
        rows = super().regions()
        # without a budget nobody tells what the driver can give
        free = None if self.budget is None else self.free_npu()
        rows.append(Region("npu", self.budget, self.used, free, exact=False))
        if self.arena.size:
            need = max([0] + [m.internal for m in self.arena.users])
            rows.append(Region("arena", self.arena.size, need, self.arena.size - need))
        if self.sram[0]:
            total, free = self.sram  # as the last load found it
            rows.append(Region("sram", total, total - free, free, exact=False))
        return rows + process.regions()

    def warnings(self) -> list[str]:
        """Memory that the runtime kept: the NPU's, and the process's own where each load costs
        some. A chip that no table of this library has."""
        lost, text = (
            kib(self.lib.leaked_bytes),
            "{} of NPU memory are lost until this process ends",
        )
        rows = [text.format(lost) + ": restart it"] if self.lib.leaked_bytes else []
        if self.soc and not is_known(self.soc):
            text = "{}: a chip that this library does not know; untested, its figures are guides"
            rows.append(text.format(self.soc))
        return rows + self.growth.warnings()

    def advise(self, error: BaseException) -> str | None:
        """What to do about an error of the runtime, or None when it is none."""
        return errors.advise(error)

    def free_npu(self) -> int | None:
        """Bytes of NPU memory that may still be taken, at most: the system's, the addresses of the
        NPU's IOMMU and the budget's, whichever is least; None: unknown."""
        system = maixmem_generic.meminfo().get("CmaFree" if self._cma else "MemAvailable")
        domain = None if self._cma else _DOMAIN - self.used
        budget = None if self.budget is None else self.budget - self.used
        known = [n for n in (system, domain, budget) if n is not None]
        if system is None and budget is None:
            return None
        return max(0, min(known)) if known else None

    def room(self, region: str) -> int:
        """Free bytes of a region; of "npu" with the shared block, which a load may count on."""
        if region == "npu":
            return (self.free_npu() or 0) + pages(self.arena.size)
        return int(super().room(region))

    def sample(self, free: list[int]) -> None:
        """Puts the free bytes of the NPU into the list `free`; it stays as it was when they cannot
        be read."""
        now = self.free_npu()
        if now is not None:
            free[0] = now

    def free_bytes(self) -> int:
        """NPU addresses that are left by this port's own books, for the difference that a load
        makes: memory of other programs is no part of it."""
        return _DOMAIN - self.used

    def check_fit(
        self, cost: RknnCost, margin: int = 0, freed: Collection[Model] = ()
    ) -> NoRoom | None:
        """None when a load of `cost` would fit now with `margin` bytes to spare, else a NoRoom
        that says what is missing.

        `freed` are models taken as unloaded. A cost that could not be read before is read
        here.
        """
        name = name_of(cost.source)
        cost.update(cost.sizes)
        free = self.free_npu()
        need = cost.peak["npu"]
        if free is None:
            text = "{}: needs {} bytes of NPU memory, free NPU memory cannot be read: give "
            text += "Port(budget=bytes)"
            return NoRoom(text.format(name, need), "npu", need, None)
        if cost.sizes is None and not freed and self._loader.asking(cost) <= free:
            self._loader.ask(cost, buffer(cost.source))
        arena = self.arena
        size, back = arena.without(freed)
        back += sum([m.resident + self.lib.held(m.require_ctx(), arena.mem) for m in freed])
        need = cost.peak["npu"]
        if cost.options.shared and cost.internal:
            grown = arena.grown(cost.internal, size)
            need += (pages(grown) if grown > size else 0) - pages(cost.internal)
            users = [m for m in arena.users if m not in freed]
            blocked = arena.blocked(cost.internal, size, users)
            if blocked:
                return NoRoom(f"{name}: {blocked}", "arena", cost.internal, size)
        if need + margin <= free + back:
            # of models that go nobody knows how many files they give back
            return None if freed else process.short_of(name, cost.files)
        text = "{}: {} bytes of NPU memory and {} to spare, {} are free: unload a model"
        return NoRoom(text.format(name, need, margin, free + back), "npu", need, free + back)

    # --- models ---

    @whole
    def inspect(self, source: Any, **how: Any) -> RknnCost:
        """What load(source, **how) would take; asks the runtime when there is room for the file to
        do that."""
        with self.lock.held(self):
            return self._loader.inspect(buffer(source), source, options_of(how))

    @whole
    def load(self, source: Any, **how: Any) -> Model:
        """A Model from a path or from bytes.

        inputs=, outputs=   element types: one for all ("uint8", "int8", "float16", "float32",
                            "native"), or by index or name
                       a type or {"type", "fmt", "scale", "zero_point", "pass_through"}. Without it
                       quantised pictures are given as uint8, which the NPU normalises and
                       quantises; all else is as the model has it
        shared=False   its own internal memory, so that it can run beside others
        dup=True       as shared=False, and Port.dup() can make more of it on the same weights
        dynamic=True   the runtime makes all memory itself
        master=model   same weights as `model`, which was converted with remove_weight=False and
                       must be unloaded last (several resolutions of one network; from runtime
                       1.5.2 on Model.set_shapes() does that in one model)
        weights=Block, internal=Block   memory of the caller instead of new memory
        cores=0, cores=(0, 1)   the NPU cores that run it; else the driver's choice
        sram=True, "shared"   as dynamic=True, with SRAM for what fits there, for it alone or for
                       all that say "shared" (from runtime 1.6.0 on)
        flush="inputs", "outputs", False   what the runtime flushes in each run: for memory that
                       the CPU does not touch. run(), write() and read() flush what they copy; who
                       uses view() calls Tensor.sync() (from 2.0.0 on)
        zero_copy=True   the file is read into NPU memory, and used there (from 2.2.0 on)
        """
        options = options_of(how)
        with self.lock.held(self), self.growth:
            model = self._loader.load(source, options)
            self.growth.loaded()
            return model

    @whole
    def dup(self, model: Model, cores: Any = None) -> Model:
        """Another Model on the weights of `model`, which was loaded with dup=True, for another
        thread; `cores` as load() has it."""
        with self.lock.held(self), self.growth:
            self._check_mine(model)
            twin = self._loader.dup(model, cores)
            self.growth.loaded()
            return twin

    @whole
    def unload(self, handle: Model) -> None:
        """Ends a Model: its memories, then its context. Harmless when it has ended; ValueError
        while others use its weights or slices of its views."""
        # waits for its run, which may itself wait for the port's lock
        with handle.lock.held(self), self.lock.held(self), self.growth:
            self._unload(handle)

    def _unload(self, handle: Model) -> None:
        if handle.ctx is None:
            return
        self._check_mine(handle)
        if handle.users:
            text = "{} models work on the weights of {}: unload them first"
            raise ValueError(text.format(len(handle.users), handle))
        users = self.lib.users_of(handle.require_ctx(), self.arena.mem)
        if users:
            text = "{} works in memory that was made with {}.\nunload it first"
            raise ValueError(tell(text, ", ".join(users), handle))
        handle.check_views()
        self._loader.close(handle)

    @whole
    def close(self) -> None:
        """Unloads every model, those too that work in each other's memory; ValueError while views
        of one are in use: then nothing has gone. The port can load again."""
        with contextlib.ExitStack() as stack:
            for model in list(self.models):
                stack.enter_context(model.lock.held(self))
            for model in self.models:
                model.check_views()
            while self.models:
                ends = [m for m in self.models if not m.users]
                free = [m for m in ends if not self.lib.users_of(m.require_ctx(), self.arena.mem)]
                last = (free or ends)[-1]
                self.lib.let_go(last.require_ctx(), self.arena.mem)
                self.unload(last)

    def __enter__(self) -> Port:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @whole
    def create(self, ctx: int, nbytes: int, flags: int = 0) -> Any:
        """NPU memory made with a context. NoRoom when there is none. `flags` of api.py, UNCACHED
        and TRY_SRAM, want a runtime from 2.0.0 on (MissingCall)."""
        short = process.no_addresses("NPU memory", nbytes)
        if short:
            raise short
        free = self.free_npu()
        fits = free is None or pages(nbytes) <= free
        mem = self.lib.create_mem(ctx, nbytes, flags) if fits else None
        if mem is None:
            text = "{} bytes of NPU memory, {} are free: unload a model. rknn_create_mem: NULL"
            raise NoRoom(text.format(nbytes, free), "npu", nbytes, free)
        return mem

    def check_may_wait(self) -> None:
        """LockError in a thread that is inside a model's with block: who it waits for may be
        waiting for its end."""
        for model in list(self.models):
            if model.lock.held_by(model):
                raise LockError(
                    f"{model} is in use: leave its with block before models are switched"
                )

    def _check_mine(self, model: Model) -> None:
        if model not in self.models:
            raise ValueError(f"{model}: not loaded here, or unloaded already")


# Where the kernel names the NPU but gives it no IOMMU, its memory has to be in one piece.
def _has_no_iommu() -> bool:
    return bool(glob.glob(_NPU)) and not glob.glob(_IOMMU)


def _read_soc() -> str | None:
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
