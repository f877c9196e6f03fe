# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Thirty MaixPy scripts broken in ten ways: for the full build with its GC heap of 512 KiB. Each
says how it ends as it is there (measured) and which kinds of changes are right. And some that
leak so slowly that they come to all their pictures, with some that only look so."""

from __future__ import annotations

import json
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

    @property
    def cured_by(self) -> tuple[str, ...]:
        """The kinds that are right; two of the ten ways may get another that runs, too."""
        return (*self.kinds, *_ALSO.get(self.name[:-1], ()))

    def files(self, folder: Path) -> list[tuple[int, Path]]:
        """The models as files, with their addresses."""
        found = []
        for address, (side, kib) in self.models.items():
            path = folder / f"{self.name}_{address:x}.kmodel"
            layers = [("conv", 8), ("raw", 2, kib << 10)]
            path.write_bytes(kmodel_build.v3((side, side, 3), layers).to_bytes())
            found.append((address, path))
        return found


# a smaller frame is tried before the GC heap; with 140 KiB kept the one image finds no block
_ALSO = {"jpeg": ("frame", "small_frame"), "image": ("del", "gc_heap")}


def kind_of(out: str) -> str:
    """The kind of the first change that `maixmem cure --json` shows."""
    kind: str = json.loads(out)[0]["step"]["key"]
    return kind


_A, _B = 0x300000, 0x800000
_QVGA, _VGA = (_CAMERA.format(size=size) for size in ("QVGA", "VGA"))
_LOAD = f"a = kpu.load({_A:#x})  # the model\n"
_SECOND = f"b = kpu.load({_B:#x})\n"
_START = f"{_BEGIN}{_QVGA}lcd.init()\n"
_PICTURE = "small = image.Image(size=(32, 32))\nsmall.pix_to_ai()\n"
_BOTH = "    one = kpu.forward(a, small)[0]\n    two = kpu.forward(b, small)[0]\n"
_BIG = "    big = image.Image(size=(280, 240))\n    big.pix_to_ai()\n"
_MANY = "kept = [image.Image(size=(320, 240)) for n in range({})]\n"
_SIDE = (32, 32, 32)
_ROUNDS = 3
#: name, source, {address of a model: its sides, its KiB} and what stands for {} in the source, one
#: for each round, and the kinds of changes that are right
_WAYS: tuple[tuple[str, str, dict[int, tuple[tuple, tuple]], tuple, tuple[str, ...]], ...] = (
    # the model after the camera: loading takes more than it keeps
    ("last", _START + _LOAD + _LOOP, {_A: (_SIDE, (1800, 1840, 1880))}, (), ("order",)),
    # the camera between two models, above the first one's hole
    (
        "hole",
        f"{_BEGIN}{_LOAD}{_QVGA}lcd.init()\nkpu.deinit(a)\n{_SECOND}{_LOOP}",
        {_A: (_SIDE, (600, 620, 640)), _B: (_SIDE, (1500, 1510, 1520))},
        (),
        ("order",),
    ),
    # a picture that the model does not take
    (
        "window",
        f"{_BEGIN}{_QVGA}{_LOAD}lcd.init()\n{_LOOP}    out = kpu.forward(a, img)\n",
        {_A: ((224, 128, 96), (100, 100, 100))},
        (),
        ("window",),
    ),
    # a frame that leaves the model no room
    (
        "frame",
        f"{_BEGIN}{_LOAD}{_VGA}lcd.init()\n{_LOOP}",
        {_A: (_SIDE, (1000, 1100, 1200))},
        (),
        ("frame",),
    ),
    # a model that is needed once, and stays
    (
        "once",
        f"{_BEGIN}{_LOAD}{_PICTURE}out = kpu.forward(a, small)[0]\n{_SECOND}{_QVGA}{_LOOP}",
        {_A: (_SIDE, (1000, 1050, 1100)), _B: (_SIDE, (1200, 1200, 1200))},
        (),
        ("deinit",),
    ),
    # a model loaded in each round
    (
        "round",
        f"{_START}{_LOOP}    a = kpu.load({_A:#x})\n",
        {_A: (_SIDE, (1100, 1200, 1300))},
        (),
        ("loop", "gc"),
    ),
    # an image made in each round, beside the old one
    (
        "image",
        f"{_START}kept = bytearray({{}} * 1024)\n{_LOOP}{_BIG}",
        {},
        (100, 120, 140),
        ("image",),
    ),
    # two models in every round, of which one fits
    (
        "turns",
        f"{_START}{_PICTURE}{_LOAD}{_SECOND}{_LOOP}{_BOTH}",
        {_A: (_SIDE, (1100, 1150, 1200)), _B: (_SIDE, (1200, 1200, 1200))},
        (),
        ("auto",),
    ),
    # more images than the GC heap has room for
    (
        "many",
        f"{_START}{_MANY}more = bytearray(60000)\n{_LOOP}",
        {},
        (3, 4, 5),
        ("gc_heap",),
    ),
    # a picture packed beside a large model
    (
        "jpeg",
        f"{_BEGIN}{_LOAD}{_QVGA}lcd.init()\n{_LOOP}    sent = img.compressed()\n",
        {_A: (_SIDE, (1400, 1420, 1440))},
        (),
        ("gc_heap",),
    ),
)


def scripts() -> list[Broken]:
    """All thirty."""
    return [
        Broken(
            f"{name}{i}",
            source.format(*numbers[i : i + 1]),
            {address: (sides[i], kib[i]) for address, (sides, kib) in models.items()},
            ("raised", "hangs"),
            kinds,
        )
        for i in range(_ROUNDS)
        for name, source, models, numbers, kinds in _WAYS
    ]


_MODEL = {_A: (32, 40)}
_ANCHORS = f"{_LOAD}anchors = (1.0, 1.0, 2.0, 2.0)\n"
#: name, source, models, and the kinds of changes that are right: none where no change is safe
_SLOWLY = (
    # what YOLO needs is taken again in each round
    (
        "yolo",
        f"{_START}{_ANCHORS}{_LOOP}    kpu.init_yolo2(a, 0.5, 0.3, 2, anchors)\n",
        _MODEL,
        ("loop",),
    ),
    # the classes are taken again in each round
    ("classes", f"{_START}{_LOAD}{_LOOP}    c = kpu.classifier(a, 3, 5)\n", _MODEL, ("loop",)),
    # a result of each round is kept for ever
    (
        "results",
        f"{_START}{_PICTURE}{_LOAD}kept = []\n{_LOOP}    kept.append(kpu.forward(a, small))\n",
        _MODEL,
        ("bound",),
    ),
    # a line for each picture
    ("log", f"{_START}log = {{}}\n{_LOOP}    log[len(log)] = 'seen %d' % len(log)\n", {}, ()),
)
_SMALLER = "    b = img.resize(32, 32)\n"
_KEEP = "    kept.append(bytearray(256))\n"
_STEADY = (
    # a list of a bounded length
    (
        "bounded",
        f"{_START}kept = []\n{_LOOP}{_KEEP}    if len(kept) > 20:\n        kept.pop(0)\n",
        {},
    ),
    # a cache that fills up and stays
    (
        "cache",
        f"{_START}n, seen = 0, {{}}\n{_LOOP}    n += 1\n    seen[n % 16] = bytearray(256)\n",
        {},
    ),
    # all results up to its own end
    (
        "ends",
        f"{_START}kept = []\nfor n in range(30):\n    img = sensor.snapshot()\n{_KEEP}",
        {},
    ),
    # garbage, and a model that is given back
    (
        "tidy",
        f"{_START}{_LOOP}    a = kpu.load({_A:#x})\n    kpu.deinit(a)\n{_SMALLER}",
        _MODEL,
    ),
)


def leaking() -> list[Broken]:
    """Those that leak and outlive a hundred pictures."""
    return [
        Broken(name, source, models, ("leaks",), kinds) for name, source, models, kinds in _SLOWLY
    ]


def steady() -> list[Broken]:
    """Those that do not leak."""
    return [Broken(name, source, models, (), ()) for name, source, models in _STEADY]
