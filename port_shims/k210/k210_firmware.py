# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The firmware builds that the board can run, as figures measured on the firmware (v0.6.2_84)."""

RAM_END = 0x80600000
GC_DEFAULT = 512 * 1024
GC_FALLBACK = 128 * 1024


# Contract.  Plain figures, no behaviour: `image` bytes of the .bin, `gc_base` address of the GC heap's block,
# `boot_free` heap_free() at the prompt with a GC heap of 512 KiB, `v4` whether the KPU library knows kmodel V4,
# `slack` bytes of the top chunk at the prompt.
class Firmware:
    def __init__(self, name, image, gc_base, boot_free, v4, slack=20480):
        self.name = name
        self.image = image
        self.gc_base = gc_base
        self.boot_free = boot_free
        self.v4 = v4
        self.slack = slack


FIRMWARES = {
    "minimum": Firmware("minimum", 720640, 0x800CF3D0, 4734976, False),
    "openmv_v4": Firmware("openmv_v4", 1521856, 0x801A7360, 3850240, True),
    "full": Firmware("full", 2115264, 0x802FFD80, 2437120, True),
    "lvgl": Firmware("lvgl", 2356416, 0x8032EA70, 2244608, False),
}


def firmware(name):
    try:
        return FIRMWARES[name]
    except KeyError:
        raise ValueError("unknown firmware %r, choose one of %s" % (name, ", ".join(sorted(FIRMWARES))))
