# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What Maix.utils of an early MaixPy lacks, under the same names: the port takes it instead, and
only there.

Each call is the firmware's own where it has it. Measured on v0.5.0-98, which is what M5Stack ships
for the M5StickV.
"""

import gc

import KPU as kpu
import uio
import uos
from maixmem import Region, const, message, run_once
from maixmem_k210_chip import GC_BLOCK, RAM

try:
    from Maix import utils
except ImportError:  # before v0.5.0
    utils = None

_TEXT = const(512)  # bytes for what memtest() prints; it fills the GC heap meanwhile


def _heap_free() -> int:
    """Free bytes of the system heap, which KPU.memtest() prints in KiB: 50 ms, two lines on the
    console each time."""
    gc.collect()  # models that nobody holds would print as well
    text = uio.BytesIO(_TEXT)
    try:
        before = uos.dupterm(text)
        try:
            kpu.memtest()
        finally:
            uos.dupterm(before)
        for line in text.getvalue().split(b"\n"):
            if b"sys heap" in line:
                return [int(word) for word in line.split() if word.isdigit()][0] * 1024
    except (AttributeError, ValueError, IndexError):  # no such call, or the text did not come
        pass
    raise NotImplementedError(message("missing", "Maix.utils.heap_free, KPU.memtest"))


def _flash_read(offset: int, n: int) -> bytes:
    raise NotImplementedError(message("missing", "Maix.utils.flash_read"))


def _gc_heap_size(*size) -> int:
    """The size that is active; it was set when the firmware was built."""
    if size:
        raise NotImplementedError(message("missing", "Maix.utils.gc_heap_size"))
    return (gc.mem_alloc() + gc.mem_free()) * GC_BLOCK // 1024


missing = [n for n in ("heap_free", "flash_read", "gc_heap_size") if not hasattr(utils, n)]
heap_free = getattr(utils, "heap_free", _heap_free)
flash_read = getattr(utils, "flash_read", _flash_read)
gc_heap_size = getattr(utils, "gc_heap_size", _gc_heap_size)


# --- the port's calls that go with them ---


def adapt(port_class) -> None:
    """Puts the calls below into the class of the K210's port."""
    port_class.warnings = _warnings
    if "flash_read" in missing:
        port_class.read_flash = _read_flash
    if "heap_free" in missing:
        found = port_class.regions

        def regions(self):
            try:
                return found(self)
            except (NotImplementedError, MemoryError):  # warnings() says it; no room for the text
                return [
                    run_once("report", "gc_region"),
                    Region("heap", RAM, None, None, None, False),
                ]

        port_class.regions = regions
        port_class.watched = ("gc",)  # reading the system heap prints and allocates
        port_class.sample = _sample


def _warnings(self) -> "list[str]":
    try:
        return run_once("k210_gc", "warnings")
    except MemoryError:  # no GC heap to look at the rest
        return [message("missing", "Maix.utils." + ", ".join(missing))]


def _read_flash(self, offset: int, n: int) -> bytes:
    return flash_read(offset, n)


def _sample(self, free: "list[int]") -> None:
    """Puts the free bytes of gc into the list `free`. Allocates nothing."""
    free[0] = gc.mem_free()
