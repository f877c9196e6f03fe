# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The builds of the firmware, as figures measured on it (v0.6.2_84)."""

GC_DEFAULT = 512 * 1024
GC_FALLBACK = 128 * 1024
GC_BOOTS = 2784
LCD_GC = 15488
SPIFFS_READ = 4096
SCRIPT_IDLE = 5056
PLAIN_IDLE = 1216  # where the firmware's main.py does not fit, below LCD_GC
GC_PROMPTS = 8448  # the least with which a script can be sent to the prompt

_EXCEPTIONS = (72704,)
_THREADS = (32768, 2224, 16384, 2224)


# Contract. Plain figures, no behaviour. `image`: bytes of the .bin; `base`: address of the first
# heap chunk; `v4`: the KPU library knows kmodel V4; `fb_all`: bytes that compressing an image
# takes; `early`, `late`: what the boot allocates for good before and after the first read of the
# file system, ahead of the GC heap.
class Build:
    def __init__(
        self,
        image: int,
        base: int,
        v4: bool,
        fb_all: int = 0,
        *,
        early: "tuple[int, ...]" = (),
        late: "tuple[int, ...]" = (),
    ) -> None:
        self.image = image
        self.base = base
        self.v4 = v4
        self.fb_all = fb_all
        self.early = early
        self.late = late
        self.threads = late == _THREADS  # it has _thread


BUILDS = {
    "minimum": Build(720640, 0x800CF3C0, False, 300 * 1024),
    "openmv_v4": Build(1521856, 0x80195740, True, 700 * 1024, early=_EXCEPTIONS),
    "full": Build(2115264, 0x802E0FC0, True, 700 * 1024, early=_EXCEPTIONS, late=_THREADS),
    "lvgl": Build(2356416, 0x803218C0, False, 700 * 1024, late=_THREADS),
}


def build(name: str) -> Build:
    """The build of that name; ValueError."""
    try:
        return BUILDS[name]
    except KeyError:
        raise ValueError(
            "unknown firmware %r, choose one of %s" % (name, ", ".join(sorted(BUILDS)))
        )
