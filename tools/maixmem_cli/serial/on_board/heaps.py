# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The heaps of a board without the library: its readers go along."""

from maixmem_k210_heap import _END, _RAM, find
from maixmem_report import gc_region


def Region(name, total, used, free, largest=None, exact=True):
    """A maixmem.Region, as the report's plain data."""
    region = {"name": name, "total": total, "used": used, "free": free}
    region["largest"], region["exact"] = largest, exact
    return region


def interpreter():
    """The GC heap where it is counted; one that grows is not tried."""
    return _known(gc_region(False))


def k210():
    """The GC heap with its largest block; the system heap where malloc's lists are found."""
    heap = find()
    system = None
    if heap:
        total = _END - _RAM
        system = Region("heap", total, total - heap.free, heap.free, heap.largest)
    return _known(gc_region(True), system)


def _known(*regions):
    return [region for region in regions if region]
