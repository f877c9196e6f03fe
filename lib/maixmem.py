# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem: where the memory of an edge-AI board is, before the board hangs.

    import maixmem
    maixmem.report()

One source for MicroPython v1.11 (MaixPy) and later, CircuitPython and CPython.
What differs between platforms is in one port module each (maixmem_k210.py ...);
this module finds the port and shows what it says. All sizes are bytes.
"""

import gc

__version__ = "0.1.0"

# What tells a platform: the first of these modules that can be imported (or file that is there), and its port.
_PORTS = (
    ("Maix", "maixmem_k210"),
    ("acl", "maixmem_ascend"),
    ("maix", "maixmem_maixcam"),
    ("/usr/lib/librknnrt.so", "maixmem_rknn"),
    ("/usr/lib/librknnmrt.so", "maixmem_rknn"),
)
_GENERIC = "maixmem_generic"

_port = None


# --- errors: every message names the numbers and the next step ---


class NoRoom(MemoryError):
    """A load or an allocation that must not be tried: `region` has `free` bytes for it, it needs `need`.

    Either is None where the runtime refused and does not say.
    """

    def __init__(self, message, region, need, free):
        super().__init__(message)
        self.region = region
        self.need = need
        self.free = free


class KModelError(ValueError):
    """A model file that is wrong: the message names offset, field, value and rule."""


class FlashOverlap(ValueError):
    """Two owners of the same flash bytes: the message names both ranges."""


class PoolEmpty(MemoryError):
    """Every buffer of a pool is in use: the message says who holds them."""


class PoolError(ValueError):
    """A release of something that is not out: double, foreign or stale."""


# --- what a port says ---


# One kind of memory. `total`, `used`, `free`, `largest` (the biggest single block) are bytes, or None
# where the platform cannot say. With `exact` False, `free` and `largest` are lower bounds and `used` an
# upper bound. Making one allocates one object; it is a snapshot and never changes.
class Region:
    """A kind of memory and its sizes in bytes at one moment."""

    def __init__(self, name, total, used, free, largest=None, exact=True):
        self.name = name
        self.total = total
        self.used = used
        self.free = free
        self.largest = largest
        self.exact = exact


# What loading a model takes, by region name: `need` stays taken, `peak` must be free while loading.
# `certainty` is "exact", "bound" (at least), "estimate" or "unknown". `refuse` says in a sentence why
# this model can never run here, or is None.
class Cost:
    """The bytes that one load takes, as {region name: bytes}."""

    def __init__(self, need, peak, certainty="exact", refuse=None, source=None):
        self.need = need
        self.peak = peak
        self.certainty = certainty
        self.refuse = refuse
        self.source = source


# --- the port ---


def port():
    """The port of this platform, found once; set_port() overrides. Raises ImportError when its file is missing."""
    global _port
    if _port is None:
        _port = __import__(_find()).Port()
    return _port


def set_port(new):
    """Use `new` as the platform's port (None: find it again at the next use). Returns `new`."""
    global _port
    _port = new
    return new


def _find():
    for probe, name in _PORTS:
        try:
            if probe[0] == "/":
                open(probe, "rb").close()
            else:
                found = __import__(probe)
                if hasattr(found, "__path__") and not getattr(found, "__file__", None):
                    continue  # CPython: a folder of that name, no package
        except (ImportError, OSError):
            continue
        return name
    return _GENERIC


# --- the report ---


def regions():
    """The memory regions of this platform, a new list of Region. May collect garbage; keeps < 1 KiB.

    To find the largest block of a GC heap it takes blocks and gives each back at once; one that cannot be had is no error.
    """
    return port().regions()


def report(out=print):
    """Prints regions and warnings, at most 60 columns a line; `out` takes one line of text.

    Returns the same as a dict: {"version", "port", "regions": [dict], "warnings": [text]}. Loads maixmem_report.
    """
    from maixmem_report import report

    return report(out)


def kib(n):
    """Bytes as short text: 17 B, 512.0 KiB, 1.2 MiB. Integer arithmetic, rounds down."""
    if n < 0:
        return "-" + kib(-n)
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= size:
            return "{}.{} {}".format(n // size, n % size * 10 // size, unit)
    return "{} B".format(n)


def hexa(n):
    """An address as text: 0x300000."""
    return "0x{:06x}".format(n)


def wrap(text, width=60):
    """The words of `text` as lines of at most `width` columns (a longer word stands alone)."""
    lines = []
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = " "
        line = line + " " + word if line else word
    lines.append(line)
    return lines


def set_gc_heap(nbytes):
    """Stores a new GC heap size where the platform can (K210): see Port.set_gc_heap of its port."""
    p = port()
    if not hasattr(p, "set_gc_heap"):
        raise NotImplementedError("{}: the GC heap size cannot be set from Python".format(p.name))
    return p.set_gc_heap(nbytes)


# --- watching ---


# Keeps, for every region the port can read without allocating, the free bytes now, at the start and the
# least seen. The lists are made once: sample() allocates nothing (proved under heap_lock) and may run in
# a camera loop. mark() keeps a copy (one small list). The figures are the port's: where a Region is a
# bound they are bounds.
class Watch:
    """High-water marks per region: sample() in the loop, report() at the end."""

    def __init__(self):
        p = port()
        self._port = p
        self.names = p.watched
        self.free = [0] * len(p.watched)
        self.low = [0] * len(p.watched)
        self.marks = []
        self.samples = 0
        self.reset()

    def reset(self):
        """Starts anew: the present values become the start and the low-water mark. Collects garbage first."""
        gc.collect()
        self._port.sample(self.free)
        self.start = list(self.free)
        for i in range(len(self.low)):
            self.low[i] = self.free[i]
        self.marks = []
        self.samples = 1

    def sample(self):
        """Reads every region and keeps the least free bytes. Allocates nothing."""
        free = self.free
        low = self.low
        self._port.sample(free)
        for i in range(len(free)):
            if free[i] < low[i]:
                low[i] = free[i]
        self.samples += 1

    def mark(self, label):
        """Keeps the present values under a label, for report(). Allocates one list."""
        self.sample()
        self.marks.append((label, list(self.free)))

    def high_water(self):
        """{region: most bytes in use above the start}, from the samples so far."""
        return {self.names[i]: self.start[i] - self.low[i] for i in range(len(self.low))}

    def report(self, out=print):
        """Prints start, marks, lowest and now, free bytes per region."""
        out("{:<16}".format("free") + "".join(["{:>12}".format(n) for n in self.names]))
        for label, row in (
            [("start", self.start)] + self.marks + [("lowest", self.low), ("now", self.free)]
        ):
            out("{:<16}".format(label[:16]) + "".join(["{:>12}".format(kib(n)) for n in row]))
