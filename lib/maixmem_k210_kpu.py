# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Models on the K210 under MaixPy v1: the port's part that the model manager uses, and the guarded
net.

Resident: would a load succeed, load, unload, run. What is needed once is in
maixmem_k210_cost. Behaviour of firmware and allocator as measured on the firmware (v0.6.2_84).
"""

import gc

import maixmem
import maixmem_k210
import maixmem_models
from maixmem import run_once

try:
    import KPU as kpu

    # what every model needs: AttributeError where a firmware lacks one
    kpu.load
    kpu.deinit
    kpu.forward
    kpu.init_yolo2
    kpu.run_yolo2
except (ImportError, AttributeError):
    kpu = run_once("k210_alias", "kpu_module")

(SPARE,) = run_once("k210_chip", "values", "SPARE")


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
            raise TypeError(maixmem.message("image", self.name, type(img)))

    def __getattr__(self, name: str):
        """The other calls of the KPU module: init_yolo2, run_yolo2, get_output, set_outputs,
        netinfo, classifier ..."""
        if name.endswith("yolo2"):
            return maixmem.resident("k210_yolo").find(self, name)
        return maixmem.resident("k210_net").find(self, name)


# Owns no memory of the board: what load() returned is the caller's until unload(). What
# maixmem_k210_cost found out: `costs` of models, whether the build loads `v4`, how many bytes the
# `firmware` has in flash (where Kboot is, the list of its images).
class Port(maixmem_k210.Port):
    """The K210 with its KPU."""

    Net = Net  # type: type
    share = "evict"
    slots = 5  # the firmware refuses a sixth model
    margin = 0  # what malloc will do is known to the byte
    trims = True  # a large flash read gives the free end of the heap back

    def __init__(self) -> None:
        self.costs = {}  # type: dict
        self.v4 = None  # type: bool | None
        self.firmware = None  # type: int | list | None

    def expect_setup(self) -> None:
        """Brings YOLO in, so that no setup has to. Other calls, such as set_outputs(), come in
        with the first of them."""
        maixmem.resident("k210_yolo")

    # --- what a model takes: asked once ---

    def inspect(self, source, **how) -> maixmem.Cost:
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

    def check_fit(self, cost: maixmem.Cost, margin: int = 0, freed=()) -> "maixmem.NoRoom | None":
        """None, or a NoRoom: see maixmem_port.Port. What malloc will do is reckoned where it is
        tight, and 32 KiB of flash are read where that gives the room.

        Without malloc's lists heap_free() must have what a load takes at worst.
        """
        self.free_bytes()
        source = cost.source
        if (
            type(source) is str and not freed and self.largest > 20480
        ):  # reading a file is unchecked
            if self.head_of(source) != cost.head:  # another card, an update
                run_once("k210_cost", "again", self, cost)
            self.free_bytes()
        if margin + cost.peak["heap"] + SPARE <= self.behind:
            return None  # whatever is free below
        if "maixmem_" + "k210_fit" not in maixmem.modules:  # in one it is an object of 64 bytes
            try:
                self.refuse()  # two calls deeper a thread's stack of 4 KB may be full
            except maixmem.NoRoom as e:
                return None if freed else e  # which may give the room to judge it
        return run_once("k210_fit", "check_fit", self, cost, margin, freed)

    def head_of(self, path: str) -> tuple:
        """(first bytes, size) of a file, which tell whether it is another one; OSError with its
        path."""
        try:
            with open(path, "rb") as file:
                return file.read(40), file.seek(0, 2)
        except OSError as e:
            raise run_once("k210_load", "not_read", path, e)

    def explain(self, error) -> str:
        """The sentence of an error that a load ended with, with the next step."""
        return run_once("k210_cause", "explain", self, error)

    def room(self, region: str) -> int:
        """Free bytes of the system heap; 0 for another region."""
        return self.free_bytes() if region == "heap" else 0

    # --- load ---

    def load(self, source, **how):
        """A kpu_net. Does not check room: ask check_fit() before, the firmware hangs where it says
        no.

        A refusal of the firmware is a NoRoom (2006, and 2009 when all slots are taken) or a
        KModelError; .code is its."""
        cost = self.costs.get(source) or self.inspect(source, **how)
        stream = how.get("stream")
        again = True
        while True:
            try:
                return kpu.load(source) if stream is None else kpu.load_flash(source, *stream)
            except ValueError as error:
                text = str(error)  # "... load error:2006, ..."
                code = text[text.find("error:") + 6 :].split(",", 1)[0]
                code = int(code) if code.isdigit() else None
                if code == 2009 and again:
                    gc.collect()  # models that nobody holds, perhaps of an earlier run
                    again = False
                    continue
                text = maixmem.message("load", text)
                if code == 2006:
                    e = maixmem.NoRoom(text, "heap", cost.peak["heap"], self.free_bytes())
                elif code == 2009:
                    e = maixmem.NoRoom(text, "slots", 1, 0)
                else:
                    e = maixmem.KModelError(text)
                e.code = code
                raise e

    unload = staticmethod(kpu.deinit)  # of a handle; harmless when it was done

    def is_loaded(self, handle) -> bool:
        """False when somebody called kpu.deinit() on it, which leaves the net without outputs."""
        return not hasattr(kpu, "get_output") or kpu.get_output(handle, 0) is not None
