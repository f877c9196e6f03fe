# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What any platform seldom needs: which port it has, the report as a table and as a dict. A
one-time part."""

import gc
import sys

from maixmem import Region, __version__, const

# What tells a platform, as "sys.platform:probe:port": the probe is a module that can be imported,
# with "/" and names that its `utils` has to have, the port is NAME of maixmem_NAME; "*" is any.
# The first that holds is it. A row is all that registers a port: the lists of modules of the
# command follow from it. One text: a tuple of tuples would take 1 KiB more.
PORTS = (
    "*:Maix/heap_free/flash_read/gc_heap_size:k210 "
    "*:Maix:k210_old "
    "CanMV:maix:canmv "
    "*:omv:openmv "
    "*:nncase_runtime:k230 "
    "linux:acl:ascend "
    "linux:maix:maixcam "
    "linux:maixmem_rknn.probe:rknn "
    "*:sys:generic"
)

_BAR = const(16)


def report(port, out=print) -> dict:
    """See maixmem.report()."""
    rows = port.regions()
    warnings = port.warnings()
    out("maixmem {} on {}".format(__version__, port.name))
    out("region  use                      used       free    largest")
    for r in rows:
        low, high = ("", "") if r.exact else ("+", "-")
        to = str if r.name == "files" else kib  # of a process on Linux: not bytes
        cells = []
        for n, end in ((r.used, high), (r.free, low), (r.largest, low)):
            cells.append("?" if n is None else to(n) + end)
        out("{:<7} {} {:>10} {:>10} {:>10}".format(r.name, bar(r.used, r.total), *cells))
    for r in rows:
        if r.holes:
            out("{}: free at the end and in {} holes".format(r.name, r.holes))
        if hasattr(r, "peak"):  # a pool of OpenMV's
            out("{}: {} in use at most".format(r.name, kib(r.peak)))
    if [r for r in rows if not r.exact]:
        out("+ at least, - at most: what the platform can say")
    show(["! {}".format(text) for text in warnings], out)
    return {
        "version": __version__,
        "port": port.name,
        "regions": [
            {
                key: getattr(r, key)
                for key in "name total used free largest holes exact peak".split()
                if hasattr(r, key)
            }
            for r in rows
        ],
        "warnings": [str(text) for text in warnings],
    }


def bar(used: "int | None", total: "int | None", width: int = _BAR) -> str:
    """A bar of `width` characters in brackets; question marks when a number is not known."""
    if used is None or not total:
        text = "?" * width
    else:
        full = min(width, (used * width + total - 1) // total)
        text = "#" * full + "." * (width - full)
    return "[{}]".format(text)


def show(items, out=print) -> None:
    """`out` takes each of the texts in lines of at most 60 columns."""
    for text in items:
        for line in wrap(text):
            out(line)


def wrap(text: str, width: int = 60) -> "list[str]":
    """The words of `text` as lines of at most `width` columns (a longer word is a line of its
    own)."""
    lines = []
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = " "
        line = line + " " + word if line else word
    lines.append(line)
    return lines


# --- numbers as text ---


def kib(n: int) -> str:
    """Bytes as short text: 17 B, 512.0 KiB, 1.2 MiB. Integer arithmetic, rounds down."""
    if n < 0:
        return "-" + kib(-n)
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= size:
            return "{}.{} {}".format(n // size, n % size * 10 // size, unit)
    return "{} B".format(n)


# --- the port of this platform ---


def find_port() -> str:  # type: ignore[return]  # the last row is for everything
    """The NAME of the module maixmem_NAME that has the port of this platform, by the table
    PORTS."""
    for row in PORTS.split():
        platform, probes, name = row.split(":")
        probe = probes.split("/")
        if platform in ("*", sys.platform):
            try:
                found = __import__(probe[0])
            except ImportError:
                continue
            utils = getattr(found, "utils", None)
            # CPython takes a folder of that name for a package
            if getattr(found, "__file__", 1) or not hasattr(found, "__path__"):
                if not [x for x in probe[1:] if not hasattr(utils, x)]:
                    return name


# --- the interpreter's own heap, on every MicroPython ---


def gc_region(largest: bool = True) -> "Region | None":
    """The GC heap as a Region, or None where the interpreter does not say (CPython). Collects
    garbage."""
    gc.collect()
    if not hasattr(gc, "mem_alloc"):
        return None
    used = gc.mem_alloc()
    free = gc.mem_free()
    if free < 0:  # some MicroPython ports cannot say
        return Region("gc", None, used, None)
    return Region("gc", used + free, used, free, largest_block(free) if largest else None)


def largest_block(n: int) -> "int | None":
    """The biggest single block of the GC heap that can be had, at most `n` bytes, in steps of
    four words.

    Bisects with real allocations and gives each back at once; collects garbage. None where lists
    do not lie in the heap that gc counts, and where not even 32 words are free in one piece.
    """
    gc.collect()  # none in between
    before = gc.mem_alloc()
    try:
        block = [None] * 32
    except MemoryError:
        return None
    # 4 or 8: the rest is two list headers and [None], less than 4 for each of the 32
    word = (gc.mem_alloc() - before) // 32 & ~3
    block.clear()
    if word <= 0:
        return None
    low = 0
    high = n // (4 * word) + 1
    while high - low > 1:
        mid = (low + high) // 2
        # A list, because clear() shrinks its block where it stands. A bytearray would have to wait
        # for a collection, and the collector takes stale words on the C stack for references (seen
        # on MaixPy: 241 KiB kept alive so).
        try:
            block = [None] * (4 * mid)
            block.clear()
            low = mid
        except MemoryError:
            high = mid
    gc.collect()
    return low * 4 * word
