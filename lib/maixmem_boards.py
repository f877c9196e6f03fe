# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The memory that other boards tell beside the GC heap: what the generic port asks, by what is
there. A one-time part.

    CanMV K230      gc.sys_heap(), gc.sys_page(), gc.sys_mmz(): (total, used, free)
    ESP32 esp32.idf_heap_info(HEAP_DATA): (total, free, largest block, least free ever) of each
    heap CircuitPython espidf.heap_caps_get_total_size(), ..._free_size(), ..._largest_free_block()
    OpenMV umalloc.stats(): blocks used, free, persistent; then the bytes of each

From their sources and manuals; none was run on a board.
"""

import gc

from maixmem import Region


def regions() -> "list[Region]":
    """One Region for each that this interpreter tells; a new list."""
    return [r for found in (_k230(), _esp32(), _circuitpython(), _openmv()) for r in found]


def overlaps(names) -> "list[str]":
    """Sentences about regions, by their names, whose bytes are counted twice."""
    if "idf" in names and "gc" in names:
        return ["idf and gc overlap: the GC heap lies in the IDF heaps and grows out of them."]
    return []


def _module(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def _k230():
    found = []
    for name in ("heap", "page", "mmz"):
        ask = getattr(gc, "sys_" + name, None)
        if ask:
            total, used, free = ask()
            if total:  # zeros where the system did not answer
                found.append(Region(name, total, used, free))
    return found


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


def _openmv():
    m = _module("umalloc")
    if not hasattr(m, "stats"):
        return []
    used, free, kept = m.stats()[3:6]
    return [Region("umalloc", used + free + kept, used + kept, free)]
