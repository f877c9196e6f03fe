# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""On a board: QVGA frames through a model that reads an AI copy, from a pool and then with plain
images.

The one that runs it sets MODEL (a flash address of a model with an input of 320x240) and FRAMES.
"""

import gc

import KPU as kpu
import sensor
from maixmem_pool import ImagePool


def pooled(net, frames):
    """Prints the free GC memory after every 100 frames."""
    pool = ImagePool(320, 240, "rgb565", 1, ai=True)
    for k in range(frames):
        with_ai = pool.take(sensor.snapshot(), "model")
        with_ai.draw_rectangle(k % 300, 100, 20, 20)
        with_ai.pix_to_ai()
        kpu.forward(net, with_ai)
        pool.release(with_ai, "model")
        if k % 100 == 99:
            gc.collect()
            print("@pooled", k + 1, gc.mem_free())


def plain_frame(net, k):
    img = sensor.snapshot().resize(320, 240)
    img.draw_rectangle(k % 300, 100, 20, 20)
    img.pix_to_ai()
    kpu.forward(net, img)
    return img


def plain(net, frames):
    """What the forum's programs do: a fresh image for each frame, the last one still at hand."""
    img = None
    for k in range(frames):
        try:
            img = plain_frame(net, k)
        except MemoryError as e:
            print("@plain", k, e)
            return
    print("@plain", frames, img)


def main(address, frames):
    """Loads the model once, runs both, frees it whatever happens."""
    sensor.reset()
    sensor.set_pixformat(sensor.RGB565)
    sensor.set_framesize(sensor.QVGA)
    net = kpu.load(address)
    try:
        pooled(net, frames)
        gc.collect()
        plain(net, frames)
    finally:
        kpu.deinit(net)
