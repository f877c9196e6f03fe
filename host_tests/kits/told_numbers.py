# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The numbers of the GC heap as regions() tells them, and what micropython.mem_info() prints at
the same moments: run by an interpreter or a board that has the library. mem_info.py reads it."""

import gc
import sys

import maixmem
import maixmem_boards  # stays, as the other: nothing comes and goes meanwhile
import maixmem_report
from micropython import mem_info


class Witness:
    """Stands where maixmem_report has gc: mem_info() speaks at each of its looks."""

    def collect(self):
        gc.collect()
        mem_info()

    def mem_alloc(self):
        mem_info()
        return gc.mem_alloc()

    def mem_free(self):
        mem_info()
        return gc.mem_free()


def told():
    maixmem.set_port(maixmem.resident("generic").Port())
    maixmem_report.gc = Witness()
    try:
        return maixmem.regions()[0]
    finally:
        maixmem_report.gc = gc


r = told()
print("@TOLD", (r.total, r.used, r.free, r.largest, r.exact, 8 if sys.maxsize > 0x7FFFFFFF else 4))
