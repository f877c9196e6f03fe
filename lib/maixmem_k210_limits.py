# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which GC heap sizes a K210 may be set to: one rule for the board and for the desk. Bytes, measured on the firmware (v0.6.2_84)."""

MIN_GC = 65536  # below, the interpreter boots unusable (8 KiB) or not at all (1000 bytes)
_MIN_SYSTEM = 65536  # what must stay of the system heap for flash reads and drivers
_EDGE = 160  # what the active size, counted in blocks, may be off by


def max_gc_heap(free, active):
    """The largest that boots and leaves 64 KiB of system heap, of `free` bytes there and a GC heap of `active` now."""
    return (free + active - _EDGE - _MIN_SYSTEM) & ~4095


def check_gc_heap(what, nbytes, free, active):
    """ValueError, beginning with `what`, for a size that would not boot or leave the system heap too small."""
    if nbytes < MIN_GC:
        text = "{}: below {} MaixPy does not boot or cannot run. Next: {} or more."
        raise ValueError(text.format(what, MIN_GC, MIN_GC))
    most = max_gc_heap(free, active)
    if nbytes > most:
        text = (
            "{}: at most {} now ({} free in the system heap and about {} in the GC heap, less {})."
        )
        text += " Next: {} or less, or free models and camera first."
        raise ValueError(text.format(what, most, free, active, _MIN_SYSTEM, most))
