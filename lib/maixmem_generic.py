# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for platforms that have no port of their own: what the interpreter and Linux say, no models."""

import gc

from maixmem import Cost, Region
from maixmem_gc import gc_region, largest_block

_MEMINFO = "/proc/meminfo"


def meminfo(path=_MEMINFO):
    """/proc/meminfo as {key: bytes}; empty where there is none."""
    found = {}
    try:
        with open(path) as f:
            for line in f:
                words = line.split()
                if len(words) > 1 and words[1].isdigit():
                    found[words[0].rstrip(":")] = int(words[1]) * (
                        1024 if words[-1] == "kB" else 1
                    )
    except OSError:
        pass
    return found


# What psutil.virtual_memory() calls it, and /proc/meminfo; the last two are Linux's contiguous memory.
_FIELDS = (
    ("total", "MemTotal"),
    ("available", "MemAvailable"),
    ("free", "MemFree"),
    ("cma_total", "CmaTotal"),
    ("cma_free", "CmaFree"),
)


def virtual_memory():
    """{"total", "available", "free", "used", "percent", "cma_total", "cma_free"} of Linux, those that it tells.

    Bytes, and used = total - available in percent. No field is made up: {} on other systems.
    """
    info = meminfo()
    found = {name: info[key] for name, key in _FIELDS if key in info}
    if found.get("total") and "available" in found:
        found["used"] = found["total"] - found["available"]
        found["percent"] = round(100 * found["used"] / found["total"], 1)
    return found


def ram_region():
    """Linux user memory: used = MemTotal - MemAvailable, as `free` and psutil say; None elsewhere."""
    info = virtual_memory()
    return (
        Region("ram", info["total"], info["used"], info["available"]) if "used" in info else None
    )


def cma_region():
    """Linux's contiguous memory, or None where there is none."""
    info = virtual_memory()
    total, free = info.get("cma_total"), info.get("cma_free")
    return Region("cma", total, total - free, free) if total and free is not None else None


class Port:
    """Regions of the interpreter's GC heap and of Linux; it loads no models."""

    name = "generic"
    share = "evict"

    def __init__(self):
        self.watched = ("gc",) if hasattr(gc, "mem_free") else ()

    def regions(self):
        """The GC heap, the Linux user memory and its CMA, as far as they can be read. Collects garbage."""
        gc.collect()
        r = gc_region()
        if r is not None and r.free is not None:
            r = gc_region(largest_block(r.free))
        return [x for x in (r, ram_region(), cma_region()) if x is not None]

    def warnings(self):
        """What is wrong with the set-up: nothing that this port could know."""
        return []

    def sample(self, free):
        """Puts the free bytes of each watched region into the list `free`. Allocates nothing."""
        if free:
            free[0] = gc.mem_free()

    def inspect(self, source, **how):
        """A Cost that says that nothing is known."""
        return Cost(
            {}, {}, "unknown", "no port for this platform: models cannot be loaded here", source
        )

    def room(self, region):
        """Free bytes of a region, 0 when there is none of that name."""
        for r in self.regions():
            if r.name == region:
                return r.largest if r.largest is not None else r.free
        return 0

    def load(self, source, **how):
        """Always NotImplementedError."""
        raise NotImplementedError(
            "no port for this platform: copy the maixmem_<platform>.py of your board"
        )

    def unload(self, handle):
        """Always NotImplementedError."""
        raise NotImplementedError("no port for this platform: nothing can have been loaded")

    def read_flash(self, offset, n):
        """Always NotImplementedError."""
        raise NotImplementedError("no port for this platform: its flash cannot be read")

    def new_image(self, w, h, format):
        """Always NotImplementedError."""
        raise NotImplementedError("no port for this platform: it has no images")

    def copy_into(self, dst, src):
        """Always NotImplementedError."""
        raise NotImplementedError("no port for this platform: it has no images")
