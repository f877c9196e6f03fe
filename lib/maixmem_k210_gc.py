# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The size of a K210's GC heap, which is one block of the system heap: what it may be, set it, is
it active.

A one-time part of the K210's port; the rules are for the desk as well. Measured on the firmware
(v0.6.2_84).
"""

import gc

from maixmem import const, message, port, run_once
from maixmem_k210_chip import EDGE, GC_BLOCK, PAGE

MIN_GC_HEAP = 65536  # below, the interpreter boots unusable (8 KiB) or not at all (1000 bytes)
_MIN_SYSTEM = const(65536)  # what must stay of the system heap for flash reads and drivers
_FREES_ONCE = (0, 5, 1, 48)  # earlier firmware frees the arguments of a YOLO model twice


# --- the rules ---


def gc_heap_of(total: int) -> int:
    """The size of the block, within 160 bytes, of which gc counts `total`: it has 1024 of each
    1036 bytes."""
    return total * GC_BLOCK // 1024


def gc_total(size: int) -> int:
    """What gc counts of a block of this size."""
    return size * 1024 // GC_BLOCK


def max_gc_heap(free: int, active: int) -> int:
    """The largest that boots and leaves 64 KiB of system heap, of `free` bytes there and a GC heap
    of `active` now."""
    return (free + active - EDGE - _MIN_SYSTEM) & ~(PAGE - 1)


def check_gc_heap(what: str, nbytes: int, free: int, active: int) -> None:
    """ValueError, beginning with `what`, for a size that would not boot or leave the system heap
    too small."""
    most = max_gc_heap(free, active)
    if nbytes < MIN_GC_HEAP:
        raise ValueError(message("gc_heap_small", what, MIN_GC_HEAP))
    if nbytes > most:
        raise ValueError(message("gc_heap_large", what, most, free, active, _MIN_SYSTEM))


# --- on a board ---


def active_gc_heap() -> int:
    """The GC heap size that is active, in bytes, within 160."""
    return gc_heap_of(gc.mem_alloc() + gc.mem_free())


def max_gc_heap_now() -> int:
    """The largest GC heap that may be set now."""
    return max_gc_heap(_behind(), active_gc_heap())


def _behind():
    """Bytes behind the break: what Maix.utils.heap_free() says."""
    p = port()
    p.free_bytes()
    return p.behind


def set_gc_heap(nbytes: int) -> str:
    """See maixmem_k210_lazy."""
    from maixmem_k210 import utils

    if isinstance(nbytes, bool) or not isinstance(nbytes, int):
        raise TypeError(message("gc_heap_type", nbytes))
    what = "set_gc_heap({})".format(nbytes)
    if "gc_heap_size" in port().lacks:
        raise NotImplementedError(message("missing", "Maix.utils.gc_heap_size"))
    check_gc_heap(what, nbytes, _behind(), active_gc_heap())
    utils.gc_heap_size(nbytes)
    stored = utils.gc_heap_size()
    if stored != nbytes:
        raise OSError(message("gc_heap_lost", nbytes, stored))
    return str(message("gc_heap_stored", nbytes))


def warnings(p) -> "list[str]":
    """Sentences about a system heap that is damaged, a GC heap that is not the one that was set,
    and firmware that damages its heap."""
    from maixmem_k210 import utils

    found = run_once("k210_fit", "damage", p) if p.heap else []
    if found:
        return found  # the rest reads flash, which takes malloc
    active = active_gc_heap()
    stored = active if "gc_heap_size" in p.lacks else utils.gc_heap_size()
    if abs(stored - active) > EDGE:
        key = "gc_heap_too_large" if stored > active else "gc_heap_other"
        found.append(message(key, stored, active))
    version = firmware_version()
    if version and version < _FREES_ONCE:
        found.append(message("frees_twice", *version))
    if p.lacks:
        found.append(message("missing", "Maix.utils." + ", ".join(p.lacks)))
    return found


def firmware_version(text: "str | None" = None) -> "tuple | None":
    """(0, 6, 2, 84) for "v0.6.2-84-g8fcd84a58 on 2022-08-26", which is os.uname()[3] on MaixPy;
    None for others."""
    if text is None:
        try:
            from os import uname
        except ImportError:
            return None
        who = uname()
        text = who[3] if who[0] == "MaixPy" else ""
    words = text.split(" ")[0].replace("_", "-").replace(".", "-").split("-")[:4]
    try:
        return tuple([int(w[1:] if w[:1] == "v" else w) for w in words] + [0] * (4 - len(words)))
    except ValueError:
        return None


def smaller_gc_heap(nbytes: int) -> int:
    """The GC heap to set so that the system heap has nbytes more, or 0 where what is in it now
    would not fit."""
    size = (active_gc_heap() - nbytes) & ~(PAGE - 1)
    return size if size >= gc.mem_alloc() + MIN_GC_HEAP else 0
