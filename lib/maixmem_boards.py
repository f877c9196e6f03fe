# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The memory that boards report: the GC heap where it may grow, and what lies beside it. The
generic port queries what exists of it. A one-time part.

    ESP32           esp32.idf_heap_info(HEAP_DATA): (total, free, largest block, least free ever)
                    of each heap
    CircuitPython   espidf.heap_caps_get_total_size(), ..._free_size(), ..._largest_free_block()

From their sources and manuals, not run on a board; ESP32: its heap under MicroPython on Linux.
"""

import gc
import sys

from maixmem import Region, const, run_once

# A piece that the GC heap takes from the system gives its tables 1/32 and the rest of a step at
# most (gc.c of MicroPython 1.20 to 1.29 and CircuitPython 9 to 10).
_STEP = const(2048)


def gc_region() -> "Region | None":
    """The GC heap as a Region, or None where the interpreter does not say. Collects garbage.

    Where it may grow nothing is tried out, which would take all that the system has; what it could
    still take counts as free, at least so much, and `largest` is what the platform itself says.
    CircuitPython: never exact, `largest` of a heap of fixed size is a bound.
    """
    gc.collect()
    more = growth() if hasattr(gc, "mem_free") and gc.mem_free() >= 0 else 0
    if more == 0:
        found = run_once("report", "gc_region")
        if found and sys.implementation.name == "circuitpython":
            found.exact = False  # what is tried out leaves holes: 880 bytes low on 7.3.3, 8.2.7
        return found
    used, free = gc.mem_alloc(), gc.mem_free()
    largest = None if more is None else max(0, more - more // 32 - _STEP)
    free -= min(free, (more or free) // 32 + _STEP)
    return Region("gc", used + free, used, free, largest, False)


def growth() -> "int | None":
    """The largest piece that the GC heap could take from the system: 0 where its size is fixed,
    None where it may grow and no call tells. gc.mem_free() counts that piece. Bytes.

    A heap of fixed size is whole groups of four blocks of four words each (gc_setup_area of gc.c).
    """
    group = 128 if sys.maxsize > 0x7FFFFFFF else 64
    rest = (gc.mem_alloc() + gc.mem_free()) % group
    for r in _esp32() + _circuitpython():
        piece = r.largest % group
        if piece and rest in (0, piece):
            return r.largest if rest else 0
        return None
    kind = sys.implementation
    grows = sys.platform == "webassembly"
    if kind.name == "circuitpython":
        grows = kind.version >= (9,)
    return None if grows or rest else 0


def warnings(regions) -> "list[str]":
    """Sentences about a GC heap that grows, and about regions whose bytes are counted twice."""
    kinds = {r.name: r for r in regions}
    found = []
    if "gc" in kinds and gc.mem_free() >= 0 and growth() != 0:
        found.append("gc may grow: what it could take from the system counts as free.")
    if "gc" in kinds and "idf" in kinds:
        found.append("idf and gc overlap: the GC heap lies in the IDF heaps.")
    return found


def regions() -> "list[Region]":
    """One Region for each that this interpreter tells; a new list."""
    return _esp32() + _circuitpython()


def _module(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def _esp32():
    m = _module("esp32")
    if not hasattr(m, "idf_heap_info"):
        return []
    heaps = m.idf_heap_info(m.HEAP_DATA)
    total, free = sum([h[0] for h in heaps]), sum([h[1] for h in heaps])
    return [Region("idf", total, total - free, free, max([h[2] for h in heaps]))]


def _circuitpython():
    m = _module("espidf")
    if not hasattr(m, "heap_caps_get_free_size"):
        return []
    total, free = m.heap_caps_get_total_size(), m.heap_caps_get_free_size()
    return [Region("idf", total, total - free, free, m.heap_caps_get_largest_free_block())]
