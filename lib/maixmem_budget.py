# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Does it all fit: camera, display, models and pools, in the order in which a program asks for them.

budget = k210_budget(heap_free=4734976, gc_heap=1 << 20)
budget.add("camera", {"heap": camera_bytes(320, 240)})
budget.add("face", cost.need, cost.peak)
budget.add("frames", {"gc": 2 * image_bytes(320, 240, "rgb565")})
budget.report()
"""

from maixmem import kib
from maixmem_k210_limits import check_gc_heap

_BOOT_GC = 512 << 10  # the GC heap that firmware figures of heap_free() were read with
_PAGE = 4096  # the system heap's break moves in pages


# Adds up claims against regions of known size; it measures and allocates nothing of what it adds up. A claim holds
# `need` bytes for good and needs `peak` bytes while it is made (a model that is being read), both {region: bytes};
# a claim that finds no room is listed in `short` and does not count, so that those after it are judged as well.
# Fragmentation is not foreseen: what fits here fits if it is asked for in this order on a fresh board.
class Budget:
    """Regions of memory, and what is to go into them."""

    def __init__(self, regions):
        self.total = dict(regions)
        self.free = dict(regions)
        self.rows = []  # (what, region, need, peak, free before)
        self.short = []  # the same, of those that do not fit

    def add(self, what, need, peak=None):
        """Claims memory. Returns whether it fits; a claim that fits in one region only takes nothing."""
        peak = peak or need
        rows = []
        for region in sorted(set(list(need) + list(peak))):
            if region not in self.free:
                raise ValueError(
                    "{}: no region {!r} here. Next: one of {}.".format(
                        what, region, sorted(self.free)
                    )
                )
            n = need.get(region, 0)
            rows.append((what, region, n, max(n, peak.get(region, 0)), self.free[region]))
        short = [row for row in rows if row[3] > row[4]]
        self.rows += rows
        self.short += short
        if not short:
            for row in rows:
                self.free[row[1]] -= row[2]
        return not short

    @property
    def fits(self):
        """Whether everything that was added fits."""
        return not self.short

    def report(self, out=print):
        """Prints a line for each claim, then what is left or what is missing."""
        for row in self.rows:
            what, region, need, peak, free = row
            note = "" if row not in self.short else "  {} short".format(kib(peak - free))
            out(
                "{:<16} {:<5} {:>10} of {:>10}{}".format(
                    what[:16], region, kib(peak), kib(free), note
                )
            )
        left = ["{} {}".format(region, kib(self.free[region])) for region in sorted(self.free)]
        out(("left: " if self.fits else "does not fit; left without it: ") + ", ".join(left))


def k210_budget(heap_free, gc_heap=_BOOT_GC, boot_gc=_BOOT_GC):
    """A Budget for MaixPy v1: `heap_free` at the prompt with a GC heap of `boot_gc`, when it is set to `gc_heap`.

    The two heaps share one memory: what the one takes the other lacks (measured: 1 to 1). Of the GC heap
    1024 of each 1036 bytes can be used. ValueError for a size that set_gc_heap() would refuse on that board.
    """
    check_gc_heap("GC heap of {} bytes".format(gc_heap), gc_heap, heap_free, boot_gc)
    heap = heap_free + boot_gc - gc_heap
    return Budget({"heap": heap // _PAGE * _PAGE, "gc": gc_heap * 1024 // 1036})
