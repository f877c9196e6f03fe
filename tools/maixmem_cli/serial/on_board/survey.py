# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a plan for a K210 has to know of it. Without the library: it may not be installed."""

import gc


def survey(sizes):
    """A dict: free bytes of the system heap (None: cannot say), length of the firmware, GC heap
    stored and there, which of the frame sizes the camera knows."""
    gc.collect()
    import Maix

    utils = getattr(Maix, "utils", None)
    free = utils.heap_free() if hasattr(utils, "heap_free") else None
    import os

    import KPU
    import sensor

    end = None
    if hasattr(utils, "flash_read"):
        end = int.from_bytes(utils.flash_read(1, 4), "little")  # where an image has its length
    return {
        "free": free,
        "image": end,
        "stored": utils.gc_heap_size() if hasattr(utils, "gc_heap_size") else 0,
        "pool": gc.mem_alloc() + gc.mem_free(),
        "sizes": [n for n in sizes if hasattr(sensor, n)],
        "version": os.uname()[3],
        "machine": os.uname()[4],
    }


def display():
    """Bytes of the display's buffer, two a pixel, after lcd.init()."""
    import lcd

    lcd.init()
    return 2 * lcd.width() * lcd.height()


def loads(path):
    """Whether the firmware takes this model."""
    import KPU

    kpu = getattr(KPU, "_kpu", KPU)  # the firmware's: maixmem_auto's loads at the first use
    try:
        kpu.deinit(kpu.load(path))
        return True
    except ValueError:
        return False


def gc_used():
    gc.collect()
    return gc.mem_alloc()
