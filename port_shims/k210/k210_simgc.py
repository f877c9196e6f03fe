# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The gc module that a simulated script sees: the figures of the board's GC heap, without the stand-in's own modules."""

import gc
import sys


# Stands in sys.modules as "gc" while a script runs. A ballast takes what the interpreter's heap has more than the
# board's, so that the script has the board's bytes; `hidden` is what of the heap the script is not shown. `total`
# are the bytes of the board's heap, `idle` those in use when a script begins.
class BoardGc:
    def __init__(self, total, idle):
        gc.collect()
        surplus = gc.mem_free() - (total - idle)
        self._ballast = bytearray(surplus - 64) if surplus > 64 else None
        gc.collect()
        self._hidden = gc.mem_alloc() + gc.mem_free() - total
        for name in dir(gc):
            if name[0] != "_" and not hasattr(self, name):
                setattr(self, name, getattr(gc, name))

    def collect(self):
        gc.collect()  # and returns nothing, as MaixPy's does

    def mem_alloc(self):
        return gc.mem_alloc() - self._hidden

    def mem_free(self):
        return gc.mem_free()


def show(total, idle):
    """Makes `import gc` give the board's figures from now on; nothing on interpreters that do not count."""
    if sys.implementation.name == "micropython":
        sys.modules["gc"] = BoardGc(total, idle)
