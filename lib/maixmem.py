# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem: where the memory of an edge-AI board is, before the board hangs.

    import maixmem
    maixmem.report()

One source for MicroPython v1.11 (MaixPy) and later, CircuitPython and CPython. What differs
between platforms is in one port each (maixmem_k210.py ...). What is needed once is imported, run
and dropped: see run_once(). Sizes are bytes.
"""

import gc
from sys import modules

try:
    from micropython import const
except ImportError:
    const = (
        int  # the compilers of MicroPython put the number in place; elsewhere it is one already
    )

__version__ = "1.0.0"

_ONCE_THRESHOLD = const(4096)  # bytes between collections while a one-time part is in memory
_PART = const(17408)  # bytes of GC heap that the largest part takes while it is read (v0.6.2_84)

_port = None


# --- errors: the message names the numbers and the next step; `code` is the platform's own, or
# None ---


class NoRoom(MemoryError):
    """Not tried, or refused, for want of memory: `region` has `free` bytes, `need` are needed;
    None if not known."""

    code = None  # type: int | None

    def __init__(
        self, message: str, region: str, need: "int | None" = None, free: "int | None" = None
    ) -> None:
        super(NoRoom, self).__init__(message)  # without names it keeps a closure
        self.region = region
        self.need = need
        self.free = free


# Raised where there is no memory for a NoRoom. `_PART` is in its text.
full = MemoryError("gc is full, free up 17408 bytes")


class KModelError(ValueError):
    """A model file that is wrong, or that the platform refused to load."""

    code = None  # type: int | None


class FlashOverlap(ValueError):
    """Two owners of the same flash bytes: the message names both ranges."""


class PoolEmpty(MemoryError):
    """Every buffer of a pool is in use: the message says who holds them."""


class PoolError(ValueError):
    """A release of something that is not out: double, foreign or stale."""


# --- what a port says ---


# One kind of memory. `total`, `used`, `free`, `largest` (the biggest single block) are bytes, or
# None where the platform cannot say; `largest` too where memory is mapped in pages. With `exact`
# False, `free` and `largest` are lower bounds and `used` an upper bound. `holes`: in how many
# pieces it is free, beside its end; None where that is not known. Making one allocates one object;
# it is a snapshot and never changes.
class Region:
    """A kind of memory and its sizes in bytes at one moment."""

    holes = None  # type: int | None

    def __init__(
        self,
        name: str,
        total: "int | None",
        used: "int | None",
        free: "int | None",
        largest: "int | None" = None,
        exact: bool = True,
    ) -> None:
        self.name = name
        self.total = total
        self.used = used
        self.free = free
        self.largest = largest
        self.exact = exact


# What loading a model takes, by region name: `need` stays taken, `peak` must be free before the
# load: `need` and what is given back when it is done. `refuse` says in a sentence why this model
# can never run here, or is None; `warning` what is wrong with the place where it lies (flash).
# `certainty` is "exact", "bound" (at least), "at most", "estimate" or "unknown". It and `source`
# are for the port's own messages; the manager reads `need`, `refuse`, `warning`.
class Cost:
    """The bytes that one load takes, as {region name: bytes}."""

    certainty = "exact"
    refuse = warning = None  # type: str | None
    source = None  # type: object

    def __init__(self, need: dict, peak: dict) -> None:
        self.need = need
        self.peak = peak


# --- parts that come when they are needed ---


def resident(name: str):
    """The module maixmem_NAME, imported when it is needed and resident from then on. A half
    imported one goes again. RuntimeError or NoRoom where the port says that importing would
    hang."""
    name = "maixmem_" + name
    if name not in modules and hasattr(_port, "refuse"):
        _port.refuse()  # type: ignore[attr-defined]
    try:
        return __import__(name)
    except BaseException:
        modules.pop(name, None)
        raise


def run_once(name: str, function: str, *args):
    """function(*args) of maixmem_NAME, dropped again afterwards with the parts that it imports,
    unless they were loaded before: their bytes are free again.

    NoRoom where the GC heap has no room for it. A part imports others at its head. Garbage is
    collected often meanwhile, so that what stays lies close together: else two images of 320x240
    fit beside two models, not three.
    """
    came = ()  # type: tuple | list
    before = gc.threshold() if hasattr(gc, "threshold") else None
    if before is not None:
        gc.threshold(_ONCE_THRESHOLD)
    try:
        try:
            there = None if "maixmem_" + name in modules else set(modules)  # type: set[str] | None
            try:
                result = resident(name)
            finally:  # half imported: what came is dropped as well
                if there:
                    came = []
                    for x in modules:
                        if "maixmem_" in x and x not in there:
                            came.append(x)
            there = None  # a part may need the room
            result = getattr(result, function)(*args)
        finally:
            for x in came:
                modules.pop(x, None)
            if before is not None:
                gc.threshold(before)
    except MemoryError as e:
        if e.__class__ is MemoryError and hasattr(gc, "mem_free"):
            try:
                e = NoRoom(full.args[0], "gc", _PART, gc.mem_free())
            except MemoryError:
                e = full
                e.__traceback__ = None  # it would grow each time
        raise e
    return result


def message(key: str, *args) -> str:
    """The text of an error with its numbers, from maixmem_text; the numbers and why where there is
    no memory for it."""
    try:
        return run_once("text", "fill", key, *args)
    except (MemoryError, ImportError, RuntimeError) as e:
        try:
            # CPython has no number
            return "{}: {} (free: {})".format(args, e, getattr(gc, "mem_free", str)())
        except MemoryError:
            return full.args[0]


# --- the port ---


def port():
    """The port of this platform, found once; set_port() overrides. Raises ImportError when its
    file is missing."""
    global _port
    if _port is None:
        _port = resident(run_once("report", "find_port")).Port()
    return _port


def set_port(port):
    """Use `port` as the platform's port (None: find it again at the next use). Returns it."""
    global _port
    _port = port
    return port


# --- the report ---


def regions() -> "list[Region]":
    """The memory regions of this platform, a new list of Region. May collect garbage; keeps < 1
    KiB.

    To find the largest block of a GC heap it takes blocks and gives each back at once; one that
    cannot be had is no error.
    """
    return port().regions()


def report(out=print) -> dict:
    """Prints regions and warnings, at most 60 columns a line; `out` takes one line of text.

    Returns the same as a dict: {"version", "port", "regions": [dict], "warnings": [text]}.
    """
    try:
        return run_once("report", "report", port(), out)
    except MemoryError as e:
        if getattr(e, "region", "gc") != "gc":
            raise
        out(full.args[0])
        out(gc.mem_free())
        return {}


def Watch():
    """A new maixmem_watch.Watch: high-water marks per region, for a loop."""
    return resident("watch").Watch()


def set_gc_heap(nbytes: int) -> str:
    """Stores a new GC heap size where the platform can (K210): see Port.set_gc_heap of its
    port."""
    return port().set_gc_heap(nbytes)
