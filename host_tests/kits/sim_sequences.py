# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Random programs of calls that take memory: what they print is compared between the stand-in and
a real firmware."""

from __future__ import annotations

import random

#: calls, {}: the letter of an image that exists; every one that the stand-in keeps the books of
IMAGE_CALLS = (
    """
{}.copy()|{}.copy((0, 0, 40, 32))|{}.resize(96, 64)|{}.resize(40, 40)|{}.cut(0, 0, 30, 30)
{}.to_grayscale(copy=True)|{}.to_rgb565(copy=True)|{}.to_rainbow(copy=True)|{}.mean_pooled(2, 2)
{}.midpoint_pooled(2, 2)|image.Image(size=(64, 48))|image.Image(size=(128, 96))|{}.compressed(50)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
#: calls that leave no image behind
OTHER_CALLS = (
    """
{}.rotation_corr(z_rotation=10)|{}.crop((0, 0, {}.width(), {}.height()))|{}.lens_corr(1.6)
{}.histeq()
{}.mean(1)|{}.median(1)|{}.gaussian(1)|{}.laplacian(1)|{}.erode(1)|{}.dilate(1)|{}.linpolar()
{}.logpolar()|{}.replace({})|{}.flood_fill(3, 3)|{}.pix_to_ai() if {} in (a, g) else 0|{}.invert()
{}.draw_rectangle(1, 2, 10, 10)|{}.draw_string(0, 0, "abc")|{}.draw_circle(9, 9, 5)|{}.clear()
{}.find_lines()|{}.find_qrcodes()|{}.find_qrcodes((0, 0, 40, 32))|{}.find_blobs([(10, 100)])
lcd.display({})|lcd.clear()|lcd.draw_string(0, 0, "hello")
lcd.init()|utils.flash_read(0, 1000)|utils.flash_read(4096, 20000)|sensor.reset()|sensor.deinit()
sensor.set_pixformat(sensor.RGB565)|sensor.set_framesize(sensor.QQVGA)
sensor.set_framesize(sensor.QVGA)
sensor.set_framesize(sensor.B64X64)|sensor.set_windowing((112, 112))|sensor.set_vflip(1)
nets.append(KPU.load(0x300000))|nets.append(KPU.load(0x400000))|KPU.deinit(nets.pop())
KPU.deinit(nets.pop(0))
KPU.init_yolo2(nets[-1], 0.5, 0.3, 2, (1.0, 2.0, 3.0, 4.0))|KPU.set_layers(nets[-1], 1)
kept.append(KPU.classifier(nets[-1], 2, 3, fea_len=10))|kept.clear()|gc.collect()
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
_HEAD = """
import gc, image, lcd, sensor, KPU
from Maix import utils
def show(n):
    gc.collect()
    print(n, utils.heap_free())
"""
_ROUND = """
gc.collect()
a = image.Image(size=(96, 64))
g = image.Image(size=(80, 60)).to_grayscale()
nets, kept = [], []
for text in {calls!r}:
    new = None
    try:
        new = eval(text)
    except Exception as e:
        text = text + " " + type(e).__name__
    show(text)
    made = type(new).__name__ == "Image" and new is not a and new is not g
    if made and len(kept) < 3 and "copy" not in text:
        kept.append(new)
    new = None
kept.clear()
while nets:
    KPU.deinit(nets.pop())
a = g = None
show("end")
"""


def program(seed: int, rounds: int, length: int) -> str:
    """A script of so many sequences, one after the other on one board."""
    dice = random.Random(seed)
    parts = [_HEAD]
    for _ in range(rounds):
        calls = []
        for _ in range(length):
            text = dice.choice(IMAGE_CALLS if dice.random() < 0.3 else OTHER_CALLS)
            calls.append(text.replace("{}", dice.choice("ag")))
        parts.append(_ROUND.format(calls=calls))
    return "".join(parts)
