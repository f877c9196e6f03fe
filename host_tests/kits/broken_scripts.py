# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Thirty MaixPy scripts broken in ten ways: for the full build with its GC heap of 512 KiB. Each
says how it ends as it is there (measured) and which kinds of changes are right."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import kmodel_build

_CAMERA = """\
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.{size})  # the picture
sensor.run(1)
"""
_BEGIN = "import sensor, lcd, image\nimport KPU as kpu\n\n"
_LOOP = "while True:\n    img = sensor.snapshot()\n    lcd.display(img)\n"


@dataclass(frozen=True)
class Broken:
    """`models` are {address: (width and height that it takes, KiB)}; `ends` as it is, one of
    these; `kinds` of changes that are right."""

    name: str
    source: str
    models: dict[int, tuple[int, int]]
    ends: tuple[str, ...]
    kinds: tuple[str, ...]

    def files(self, folder: Path) -> list[tuple[int, Path]]:
        """The models as files, with their addresses."""
        found = []
        for address, (side, kib) in self.models.items():
            path = folder / f"{self.name}_{address:x}.kmodel"
            layers = [("conv", 8), ("raw", 2, kib << 10)]
            path.write_bytes(kmodel_build.v3((side, side, 3), layers).to_bytes())
            found.append((address, path))
        return found


_A, _B = 0x300000, 0x800000


def scripts() -> list[Broken]:
    """All thirty."""
    qvga = _CAMERA.format(size="QVGA")
    vga = _CAMERA.format(size="VGA")
    died = ("raised", "hangs")
    found = []
    for i in range(3):
        load = f"a = kpu.load({_A:#x})  # the model\n"
        start = f"{_BEGIN}{qvga}lcd.init()\n"
        picture = "small = image.Image(size=(32, 32))\nsmall.pix_to_ai()\n"
        second = f"b = kpu.load({_B:#x})\n"
        big = "    big = image.Image(size=(280, 240))\n    big.pix_to_ai()\n"
        both = "    one = kpu.forward(a, small)[0]\n    two = kpu.forward(b, small)[0]\n"
        many = f"kept = [image.Image(size=(320, 240)) for n in range({3 + i})]\n"
        made = [
            # the model after the camera: loading takes more than it keeps
            (_BEGIN + qvga + "lcd.init()\n" + load + _LOOP, {_A: (32, 1800 + 40 * i)}, ("order",)),
            # the camera between two models, above the first one's hole
            (
                f"{_BEGIN}{load}{qvga}lcd.init()\nkpu.deinit(a)\n{second}{_LOOP}",
                {_A: (32, 600 + 20 * i), _B: (32, 1500 + 10 * i)},
                ("order",),
            ),
            # a picture that the model does not take
            (
                _BEGIN + qvga + load + "lcd.init()\n" + _LOOP + "    out = kpu.forward(a, img)\n",
                {_A: ((224, 128, 96)[i], 100)},
                ("window",),
            ),
            # a frame that leaves the model no room
            (_BEGIN + load + vga + "lcd.init()\n" + _LOOP, {_A: (32, 1000 + 100 * i)}, ("frame",)),
            # a model that is needed once, and stays
            (
                f"{_BEGIN}{load}{picture}out = kpu.forward(a, small)[0]\n{second}{qvga}{_LOOP}",
                {_A: (32, 1000 + 50 * i), _B: (32, 1200)},
                ("deinit",),
            ),
            # a model loaded in each round
            (
                _BEGIN + qvga + "lcd.init()\n" + _LOOP + f"    a = kpu.load({_A:#x})\n",
                {_A: (32, 1100 + 100 * i)},
                ("loop", "gc"),
            ),
            # an image made in each round, beside the old one
            (
                f"{start}kept = bytearray({100 + 20 * i} * 1024)\n{_LOOP}{big}",
                {},
                ("image",),
            ),
            # two models in every round, of which one fits
            (
                f"{start}{picture}{load}{second}{_LOOP}{both}",
                {_A: (32, 1100 + 50 * i), _B: (32, 1200)},
                ("auto",),
            ),
            # more images than the GC heap has room for
            (
                f"{start}{many}more = bytearray(60000)\n{_LOOP}",
                {},
                ("gc_heap",),
            ),
            # a picture packed beside a large model
            (
                _BEGIN + load + qvga + "lcd.init()\n" + _LOOP + "    sent = img.compressed()\n",
                {_A: (32, 1400 + 20 * i)},
                ("gc_heap",),
            ),
        ]
        names = "last hole window frame once round image turns many jpeg".split()
        found += [
            Broken(f"{name}{i}", source, models, died, kinds)
            for name, (source, models, kinds) in zip(names, made)
        ]
    return found
