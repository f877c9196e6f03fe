# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Random project.toml files for `maixmem fit`, with the models that they name built beside
them."""

from __future__ import annotations

import random
from pathlib import Path

import kmodel_build

_SIZES = ("QQVGA", "QVGA", "QVGA", "B240X240", "CIF", "VGA")
_SHAPES = ((64, 32), (128, 64), (128, 256, 64), (256, 512, 64), (256, 512, 128))


def models(folder: Path) -> list[Path]:
    """Models of 20 KB to 1.8 MB. Each ends as a YOLO net does: five anchors with their box, their
    score and one class on a grid of 7x7."""
    found = []
    for i, channels in enumerate(_SHAPES):
        path = folder / f"m{i}.kmodel"
        body = [("conv", n, {"halve": k < 2}) for k, n in enumerate(channels)]
        layers = [*body, ("conv", 5 * (5 + 1), {"kernel": 1}), ("dequantize",)]
        path.write_bytes(kmodel_build.v3((28, 28, 3), layers).to_bytes())
        found.append(path)
    return found


def project(seed: int, builds: list[str], files: list[Path]) -> str:
    """A project.toml."""
    r = random.Random(seed)
    lines = [f'firmware = "{r.choice(builds)}"', f'program = "{r.choice((8, 16, 48))}K"']
    order = ["camera", "lcd", "pools", "images", "models", "results"]
    if r.random() < 0.5:
        r.shuffle(order)
    lines += [f"order = {order!r}", f"lcd = {str(r.random() < 0.3).lower()}"]
    if r.random() < 0.8:
        size = r.choice(_SIZES)
        lines += ["[camera]", f'size = "{size}"']
        lines += [f"dual_buff = {str(r.random() < 0.2).lower()}"]
        if r.random() < 0.4:
            lines.append("windowing = [112, 112]")
    for i in range(r.choice((0, 1, 2, 2, 3))):
        lines += _model(r, i, files)
    for i in range(r.choice((0, 0, 1))):
        side = r.choice((64, 112, 160, 224))
        lines += ["[[pool]]", f'name = "pool{i}"', f"size = [{side}, {side}]"]
        lines += [f"count = {r.randint(1, 2)}", f"ai = {str(r.random() < 0.5).lower()}"]
    for i in range(r.choice((0, 1, 2))):
        side = r.choice((28, 64, 112))
        make = r.choice(("image", "resize", "to_grayscale"))
        lines += [
            "[[image]]",
            f'name = "image{i}"',
            f"size = [{side}, {side}]",
            f'make = "{make}"',
        ]
        lines += [f"ai = {str(r.random() < 0.5).lower()}"]
    lines += _calls(r, lines)
    if r.random() < 0.3:
        lines += ["[[result]]", 'name = "scores"', f"values = {r.choice((10, 500, 1500))}"]
    return "\n".join(lines) + "\n"


def _calls(r: random.Random, lines: list[str]) -> list[str]:
    """Calls of the loop: of a model that stays, of the display, of the camera's picture."""
    there = ["compressed"] if "[camera]" in lines else []
    if "[camera]" in lines and 'firmware = "minimum"' not in lines:
        there += ["find_blobs", "lens_corr", "find_qrcodes", "mean"]
    if "lcd = true" in lines:
        there.append("lcd.draw_string")
    found = [["[[call]]", f'do = "{do}"'] for do in there if r.random() < 0.4]
    if 'name = "model0"' in lines and lines[lines.index('name = "model0"') + 4 :][:1] == [
        "resident = true"
    ]:
        found.append(["[[call]]", 'do = "run_yolo2"', 'model = "model0"'])
    return [line for call in found for line in call]


def _model(r: random.Random, i: int, files: list[Path]) -> list[str]:
    """A model of flash, of flash word by word as load_flash wants it, or of a file on the card or
    in /flash."""
    way = r.choice(("address", "address", "address", "stream", "/sd", "/sd", "/flash"))
    file = r.choice(files[:2] if way == "/flash" else files)  # /flash is slow to write
    lines = ["[[model]]", f'name = "model{i}"', f'file = "{file.name}"']
    if way[0] == "/":
        lines.append(f'path = "{way}/{file.name}"')
    else:
        lines.append(f"address = {0x300000 + 0x280000 * i:#x}")
        lines.append(f"stream = {str(way == 'stream').lower()}")
    return [*lines, f"resident = {str(r.random() < 0.3).lower()}"]
