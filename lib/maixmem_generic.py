# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for platforms that have no port of their own: what the interpreter and Linux say, no
models."""

import gc
import sys

from maixmem import NoRoom, Region, message, run_once
from maixmem_port import Port as BasePort

if sys.platform == "webassembly":  # its collector waits for the end of the call: nothing dropped
    # comes back in it (PyScript)
    import maixmem_boards
    import maixmem_report

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


def limit():
    """(bytes that this process may have, bytes in use) where a control group limits it, else
    None."""
    try:  # by name: no board with MicroPython needs the file
        return __import__("maixmem_linux.cgroup", None, None, ["limit"]).limit()
    except ImportError:
        return None


# What psutil.virtual_memory() calls it, and /proc/meminfo; the last two are Linux's contiguous
# memory.
_FIELDS = (
    ("total", "MemTotal"),
    ("available", "MemAvailable"),
    ("free", "MemFree"),
    ("cma_total", "CmaTotal"),
    ("cma_free", "CmaFree"),
)


def virtual_memory():
    """{"total", "available", "free", "used", "percent", "cma_total", "cma_free"} of Linux, those
    that it tells.

    Bytes, and used = total - available in percent. No field is invented: {} on other systems. In a
    container with less than the machine it is the container's.
    """
    if sys.platform != "linux":
        return {}
    info = meminfo()
    found = {name: info[key] for name, key in _FIELDS if key in info}
    container = limit()
    if container and container[0] < found.get("total", 0):
        found["total"], used = container
        found["available"] = min(found.get("available", 0), max(0, found["total"] - used))
    if found.get("total") and "available" in found:
        found["used"] = found["total"] - found["available"]
        found["percent"] = round(100 * found["used"] / found["total"], 1)
    return found


def ram_region():
    """Linux user memory: used = MemTotal - MemAvailable, as `free` and psutil say; None
    elsewhere."""
    info = virtual_memory()
    return (
        Region("ram", info["total"], info["used"], info["available"]) if "used" in info else None
    )


def cma_region():
    """Linux's contiguous memory, or None where there is none."""
    info = virtual_memory()
    total, free = info.get("cma_total"), info.get("cma_free")
    return Region("cma", total, total - free, free) if total and free is not None else None


def _boards(function, *args):
    """function(*args) of maixmem_boards; None where a heap in pieces has no room for that part."""
    try:
        return run_once("boards", function, *args)
    except MemoryError:
        return None


def _counted():
    """The GC heap as gc counts it, with no word about its largest block; None where it does not
    count."""
    if not hasattr(gc, "mem_free"):
        return None
    used, free = gc.mem_alloc(), gc.mem_free()
    return Region("gc", used + free, used, free, None, False)


# Ports on Linux inherit from it: their models go into regions that room() knows, and check_fit()
# asks it.
class Port(BasePort):
    """Regions of the interpreter's GC heap and of Linux; it loads no models."""

    name = "generic"
    manager = None  # the one made last

    def for_models(self, manager=None):
        """See maixmem_port.Port; keeps the manager, for advice about its models."""
        self.manager = manager
        return super().for_models(manager)

    def __init__(self) -> None:
        if hasattr(gc, "mem_free"):
            self.watched = ("gc",)  # and no Linux: to read its files allocates
        elif ram_region():
            self.watched = ("ram",)

    def regions(self) -> "list[Region]":
        """The GC heap, the Linux user memory and its CMA, what maixmem_boards finds; as far as
        they can be read.

        Collects garbage. In a heap of such small pieces that maixmem_boards cannot be loaded `gc`
        is what the interpreter counts, and not exact.
        """
        found = [_boards("gc_region") or _counted(), ram_region(), cma_region()]
        return [x for x in found if x is not None] + (_boards("regions") or [])

    def warnings(self) -> "list[str]":
        """Says where the GC heap grows, and where two regions count the same bytes."""
        return _boards("warnings", self.regions()) or []

    def sample(self, free: "list[int]") -> None:
        """Puts the free bytes of each watched region into the list `free`: of the GC heap, which
        allocates nothing; on CPython of Linux."""
        for i in range(len(free)):
            if self.watched[i] == "gc":
                free[i] = gc.mem_free()
            else:
                free[i] = virtual_memory()["available"]

    def room(self, region: str) -> int:
        """Free bytes of a region, 0 when there is none of that name."""
        for r in self.regions():
            if r.name == region:
                return (r.free if r.largest is None else r.largest) or 0
        return 0

    def held_by(self, handle, region: str) -> int:
        """Bytes of a region that unloading a handle gives back, for forecasts; 0 where nobody
        knows."""
        return 0

    def check_fit(self, cost, margin: int = 0, freed=()) -> "NoRoom | None":
        """None when every region has the peak and the margin in one piece, else the NoRoom: see
        maixmem_port.Port. Where the Cost names its `blocks`, {region: [bytes of each]}, only the
        largest of them has to lie in one."""
        for region in cost.peak:
            need = cost.peak[region]
            most = max(getattr(cost, "blocks", {}).get(region, (need,)))
            back = sum([self.held_by(handle, region) for handle in freed])
            largest = self.room(region) + back
            if largest < need + margin:
                whole = [r.free + back for r in self.regions() if r.name == region and r.free]
                free = max(whole + [largest])
                if largest < most + margin or free < need + margin:
                    pieces = ", {} in one piece".format(largest) if largest < free else ""
                    here = self.manager and len(self.manager.loaded()) > len(freed)
                    step = "release() a model" if here else "a smaller model"
                    text = message("no_room_in", need, region, margin, free, pieces, step)
                    if largest < most + margin:
                        need, free = most, largest
                    return NoRoom(text, region, need + margin, free)
        return None

    def free_bytes(self) -> int:
        """Free bytes of all that is watched, for the difference that a load makes."""
        free = [0] * len(self.watched)
        self.sample(free)
        return sum(free)
