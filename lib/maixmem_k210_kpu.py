# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Models on the K210 under MaixPy v1: the port's part that the model manager uses, and the guarded
net.

Resident: would a load come through, load, unload, run. What is asked once is in
maixmem_k210_cost. Behaviour of firmware and allocator as measured on the firmware (v0.6.2_84).
"""

import gc

import maixmem_k210
import maixmem_k210_chip as chip
import maixmem_models
from maixmem import Cost, KModelError, NoRoom, const, message, resident, run_once
from maixmem_k210 import utils

try:
    import KPU as kpu

    kpu.load, kpu.deinit, kpu.forward, kpu.init_yolo2, kpu.run_yolo2
except (ImportError, AttributeError):
    kpu = run_once("k210_adapt", "kpu_module")

_FORECAST = const(16384)  # a forecast may be off by the page ends of what is freed and loaded


# Firmware calls with the guards that it lacks: a released model and an object that is no image are
# refused. Calls allocate what the firmware allocates, no more. YOLO's are in maixmem_k210_yolo,
# seldom ones in maixmem_k210_net.
class Net(maixmem_models.Net):
    """A model of the K210."""

    def forward(self, img, out: int = 0):
        """kpu.forward: a kpu_fmap, which points into the model. Use it before the next run, or
        take run()."""
        if not isinstance(img, list):
            self.check_image(img)
        return kpu.forward(self.handle or self.require_handle(), img, out)

    def run(self, img, out: int = 0) -> tuple:
        """forward() and a copy of its values, a tuple that outlives the model."""
        return self.forward(img, out)[:]

    def check_image(self, img) -> None:
        """TypeError for what the firmware would take for an image."""
        if not hasattr(img, "pix_to_ai"):
            raise TypeError(message("image", self.name, type(img).__name__))

    def __getattr__(self, name: str):
        """The other calls of the KPU module: init_yolo2, run_yolo2, get_output, set_outputs,
        netinfo, classifier ..."""
        found = resident("k210_yolo") if name[-5:] == "yolo2" else resident("k210_net")
        return found.find(self, name)


# Owns no memory of the board: what load() returned is the caller's until unload().
# `parts`: what we loaded and freed, in address order as far as we know: [key, bytes], key None for
# a hole. The firmware does not show its heap, so a hole may be wrong (a camera buffer went into
# it): check_fit() lets nothing that can hang rest on one. `unsure`: the last part is a hole, or
# else free space at the top that is too small to have gone back. What maixmem_k210_cost found
# out: `costs` of models, whether the build loads `v4`, how many bytes the `firmware` has in flash
# (where Kboot is, the list of its images).
class Port(maixmem_k210.Port):
    """The K210 with its KPU."""

    Net = Net

    def __init__(self) -> None:
        self.parts = []  # type: list[list]
        self.unsure = False
        self.costs = {}  # type: dict
        self.v4 = None  # type: bool | None
        self.firmware = None  # type: int | list | None

    def expect_setup(self) -> None:
        """Brings YOLO in, so that no setup has to. Other calls, such as set_outputs(), come in
        with the first of them."""
        resident("k210_yolo")

    # --- what a model takes: asked once ---

    def inspect(self, source, **how) -> Cost:
        """The Cost of a model; reads its header. With stream=(dual_buf, batch, spi_speed) that of
        kpu.load_flash.

        Firmware without flash_read reads no header at an address: there nbytes= (of a V3 model's
        file) or file= (a path of the same model) tells; other firmware takes no notice of them.

        Imports the reader of headers and drops it again; reads at most 8 KiB of flash. Cost.chunks
        are the allocations of the load; Cost.warning says what overlaps the bytes of a model in
        flash.
        """
        cost = self.costs[source] = run_once("k210_cost", "inspect", self, source, how)
        return cost

    # --- whether it would come through ---

    def check_fit(self, cost: Cost, margin: int = 0, freed=()) -> "NoRoom | None":
        """None, or a NoRoom: see maixmem_port.Port. May read 32 KiB of flash when it is tight."""
        need = margin + cost.peak["heap"]
        free = utils.heap_free()
        if need + 2 * chip.PAGE <= free:  # whatever is free at the top
            return None
        top = slack = 0
        if freed:  # a forecast
            holes = self.holes(freed)
            top = holes.pop()
            need = margin + chip.required_free(cost.chunks, holes)[0]
            if need <= free + top:
                return None
            slack = _FORECAST
        free = self.trim_heap() + top
        if freed and self.untrimmed:
            slack += chip.TRIM
        if need <= free + slack:
            return None
        if not freed:
            # with holes it fits; and if they are not there, it fits all the same or fails with a
            # clean error
            holes = self.holes()
            if margin + chip.required_free(cost.chunks, holes)[0] <= free:
                first = chip.required_free(cost.chunks, (), free - margin)[1]
                if not first or (
                    not first & chip.UNCHECKED and chip.sbrk_increment(first & chip.SIZE) > free
                ):
                    return None
        error = NoRoom("heap", "heap", need, free)  # explain() has the words
        error.cost = cost
        error.holes = sum(holes)
        return error

    def explain(self, error) -> str:
        """The sentence of an error that a load ended with, with the next step."""
        return run_once("k210_why", "explain", self, error)

    def trim_heap(self) -> int:
        """heap_free() after the free end of the heap went back to it. Reads 32 KiB of flash if
        that is safe."""
        free = utils.heap_free()
        self.untrimmed = True
        if free > chip.TRIM:
            try:
                utils.flash_read(0, chip.TRIM_READ)
                gc.collect()  # else what stays lies behind these 32 KiB, between the images
                self.untrimmed = max(self.holes()) >= 4 * chip.TRIM_READ  # it went into a hole
            except (MemoryError, NotImplementedError):  # no GC heap for it, or no such call
                pass
            if self.unsure and utils.heap_free() - free >= self.parts[-1][1] - 2 * chip.PAGE:
                self.parts.pop()  # what was unsure at the end was at the top
                self.unsure = False
        return utils.heap_free()

    def room(self, region: str) -> int:
        """Bytes of the heap that one load may count on; holes that our models left included. 0 for
        another region."""
        return self.trim_heap() + sum(self.holes()) if region == "heap" else 0

    free_bytes = staticmethod(utils.heap_free)  # for the difference that a load makes

    def holes(self, freed=()) -> "list[int]":
        """Sizes of the holes when the handles `freed` are unloaded; the last is at the end,
        perhaps 0 bytes."""
        keys = [None]
        for handle in freed:
            keys.append(self.key_of(handle))
        sizes = []
        run = 0
        for key, n in self.parts:
            if key in keys:
                run += n
            elif run:
                sizes.append(run)
                run = 0
        return sizes + [run]

    # --- load ---

    def load(self, source, **how):
        """A kpu_net. Does not check room: ask check_fit() before, the firmware hangs where it says
        no.

        A refusal of the firmware is a NoRoom (2006, and 2009 when all slots are taken) or a
        KModelError; .code is its."""
        cost = self.costs.get(source) or self.inspect(source, **how)
        stream = how.get("stream")
        self._on_load(source, cost)  # before it: a Ctrl-C behind the load would lose the net
        again = True
        while True:
            try:
                return kpu.load(source) if stream is None else kpu.load_flash(source, *stream)
            except BaseException as e:
                text = str(e)  # "... load error:2006, ..."
                code = text[text.find("error:") + 6 :].split(",", 1)[0]
                code = int(code) if code.isdigit() else None
                if code == 2009 and again:
                    gc.collect()  # models that nobody holds, perhaps of an earlier run
                    again = False
                    continue
                self._on_free(source, 0)
                if not isinstance(e, ValueError):
                    raise
                if code == 2006:  # holes turned out to be taken
                    taken = []
                    for p in self.parts:
                        if p[0] is not None:
                            taken.append(p)
                    self.parts = taken
                    self.unsure = False
                text = message("load", text)
                if code == 2006:
                    e = NoRoom(text, "heap", cost.peak["heap"], utils.heap_free())
                else:
                    e = NoRoom(text, "slots", 1, 0) if code == 2009 else KModelError(text)
                e.code = code
                raise e

    def unload(self, handle) -> None:
        """kpu.deinit; harmless when it was done."""
        free = utils.heap_free()
        kpu.deinit(handle)
        self._on_free(self.key_of(handle), utils.heap_free() - free)

    def key_of(self, handle):
        """The source that a handle was loaded from, 0 where it does not say: then we know no hole
        of it."""
        try:
            return handle.model_path() or handle.model_addr()
        except AttributeError:
            return 0

    def is_loaded(self, handle) -> bool:
        """False when somebody called kpu.deinit() on it, which leaves the net without outputs."""
        return not hasattr(kpu, "get_output") or kpu.get_output(handle, 0) is not None

    def _on_load(self, key, cost):
        sizes = []
        for c in cost.chunks:
            if not c & chip.TRANSIENT:
                sizes.append(c & chip.SIZE)
        if self.unsure and self.parts[-1][1] < max(sizes):
            self.parts.pop()
        self.unsure = False
        for size in sizes:
            holes = []
            for owner, n in self.parts:
                holes.append(0 if owner else n)
            i = chip.best_fit(holes, size)
            if i is not None:
                self.parts[i][1] -= size
                self.parts.insert(i, [key, size])
            elif self.parts and self.parts[-1][0] == key:
                self.parts[-1][1] += size
            else:
                self.parts.append([key, size])

    def _on_free(self, key, risen):
        parts = []
        for owner, n in self.parts:
            if owner == key:
                owner = None
            if owner is None and parts and parts[-1][0] is None:
                parts[-1][1] += n
            elif n:
                parts.append([owner, n])
        self.unsure = False
        if parts and parts[-1][0] is None:
            if risen >= parts[-1][1] - 2 * chip.PAGE:
                parts.pop()  # it was at the top and went back
            else:
                self.unsure = parts[-1][1] < chip.TRIM + 2 * chip.PAGE
        self.parts = parts
