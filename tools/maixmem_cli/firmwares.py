# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Firmware builds that are known by measurement: what they load, and what memory they leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


# Sizes are bytes, measured on the firmware (v0.6.2_84) at the prompt after power-on with the
# default GC heap. A smaller GC heap gives its bytes to the system heap, one for one.
@dataclass(frozen=True)
class Firmware:
    """One build."""

    name: str
    image: int  #: the .bin file
    v4: bool  #: loads V4 models
    heap: int  #: Maix.utils.heap_free() after power-on
    gc_heap: int = 512 << 10
    title: str = ""

    def capabilities(self) -> dict[str, Any]:
        """What KModel.refuse() wants to know, for a board after power-on."""
        return {"name": self.name, "v4": self.v4, "ram": self.heap}


FIRMWARES = {
    f.name: f
    for f in (
        Firmware("minimum", 720640, False, 4734976, title="minimum_with_ide_support"),
        Firmware("openmv_v4", 1521856, True, 3850240, title="openmv_kmodel_v4_with_ide_support"),
        Firmware("full", 2115264, True, 2437120, title="maixpy (full)"),
        Firmware("lvgl", 2356416, False, 2244608, title="with_lvgl"),
    )
}
