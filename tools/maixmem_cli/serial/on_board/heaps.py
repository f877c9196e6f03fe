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


def heaps(k210):
    """The GC heap where it is counted; of a K210 its largest block, and the system heap where
    malloc's lists are found."""
    found = [gc_region(k210)]  # a heap that grows is not tried
    heap = find() if k210 else None  # elsewhere that address is nobody's
    if heap:
        total = _END - _RAM
        found.append(Region("heap", total, total - heap.free, heap.free, heap.largest))
    return [region for region in found if region]
