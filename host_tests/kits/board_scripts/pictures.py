# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Sizes, parts and files of pictures, right and wrong ones."""

import os

import image


def tell(label, do):
    try:
        print("@", label, do())
    except Exception as e:
        print("@", label, type(e).__name__, e)


for size in ((0, 5), (5, 0), (-1, 5), (5, -1), (1, 300)):
    tell(size, lambda: image.Image(size=size))
img = image.Image(size=(100, 80))
gray, binary = img.to_grayscale(copy=True), img.to_bitmap(copy=True)
for name, kind in (("rgb", img), ("gray", gray), ("binary", binary)):
    for end in ".ppm .pgm .png .bmp .jpg .raw .txt".split() + [""]:
        tell(name + end, lambda: kind.save("/sd/" + name + end))
print("@", sorted([(n, n[-1] == "g" or os.stat(n)[6]) for n in os.listdir() if n != "main.py"]))
_SAVED = "/sd/none/a.jpg /sd/none/a.bmp /none/a.bmp /flash/a/b.bmp a.bmp /a.bmp"
for path in _SAVED.split():
    tell("save " + path, lambda: img.save(path))
_LOADED = "/sd/none/a.jpg /none/a.bmp /flash/no.bmp no.bmp /sd/rgb.txt /sd/gray.bmp"
for path in _LOADED.split():
    tell("load " + path, lambda: image.Image(path))
for roi in ((90, 70, 50, 50), (0, 0, 0, 5), (200, 0, 5, 5), (-5, -5, 20, 20)):
    tell(roi, lambda: (img.copy(roi), img.copy(roi, 0.5, 2)))
    tell(roi, lambda: image.Image(size=(100, 80)).crop(roi))
for by in ((2, 2), (3, 7), (0, 2), (200, 1), (1, 81)):
    for name in ("mean_pool", "midpoint_pool", "mean_pooled", "midpoint_pooled"):
        one = image.Image(size=(100, 80))
        tell((name, by), lambda: (getattr(one, name)(*by), one))
