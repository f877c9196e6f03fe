# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for a K210 whose firmware lacks calls of Maix.utils: MaixPy before v0.5.1.

What is missing is queried, not known by version. The system heap is read as everywhere; a header
at an address in flash is not, so add() needs nbytes= or file=. Run on v0.5.0-98, which is what
M5Stack ships for the M5StickV.
"""

import gc

import maixmem_k210_kpu
import maixmem_models
from maixmem import Region, message, run_once
from maixmem_k210 import utils
from maixmem_k210_chip import RAM
from maixmem_k210_kpu import kpu

# the handle that has had init_yolo2(), which maixmem_k210_yolo sets: getattr() with a default does
# not catch what a __getattr__ raises there
maixmem_k210_kpu.Net.yolo = None  # type: ignore[attr-defined]


class Port(maixmem_k210_kpu.Port):
    """The K210 under an early MaixPy v1."""

    lacks = tuple(
        [n for n in ("heap_free", "flash_read", "gc_heap_size") if not hasattr(utils, n)]
    )
    trims = "flash_read" not in lacks

    def __init__(self) -> None:
        super().__init__()
        if self.heap is None and "heap_free" in self.lacks:
            self.watched = ("gc",)

    def free_bytes(self) -> int:
        """As in maixmem_k210; NotImplementedError where nothing tells."""
        try:
            return super().free_bytes()
        except AttributeError:
            if self.heap:  # its lists are damaged
                self.largest = self.behind = 0
                return 0
            raise NotImplementedError(message("missing", "Maix.utils.heap_free"))

    def regions(self) -> "list[Region]":
        """As in maixmem_k210; of the system heap only the total where nothing tells more."""
        try:
            return super().regions()
        except NotImplementedError:  # warnings() says it
            heap = Region("heap", RAM, None, None, None, False)
            return [run_once("report", "gc_region"), heap]  # type: ignore[list-item]  # as there

    def sample(self, free: "list[int]") -> None:
        """Puts what is `watched` into the list `free`. Allocates nothing."""
        if len(free) > 1:
            super().sample(free)
        else:
            free[0] = gc.mem_free()

    def warnings(self) -> "list[str]":
        """Sentences about what is missing, and as in maixmem_k210."""
        try:
            return run_once("k210_gc", "warnings", self)
        except MemoryError:  # no GC heap to look at the rest
            return [message("missing", "Maix.utils." + ", ".join(self.lacks))]

    def read_flash(self, offset: int, n: int) -> bytearray:
        """As in maixmem_k210; NotImplementedError where the firmware reads no flash."""
        if "flash_read" in self.lacks:
            raise NotImplementedError(message("missing", "Maix.utils.flash_read"))
        return super().read_flash(offset, n)

    def unload(self, handle) -> None:
        """kpu.deinit. Where KPU has no get_output (v0.5.0-9), that follows pointers which only
        init_yolo2() sets, so it is called before."""
        if not hasattr(kpu, "get_output") and not _had_yolo(handle):
            kpu.init_yolo2(handle, 0.5, 0.3, 1, (1.0, 1.0))
        super().unload(handle)


def _had_yolo(handle):
    last = maixmem_models.ModelManager._last
    for net in last.models.values() if last else ():
        if net.handle is handle:
            return net.yolo is handle
    return False
