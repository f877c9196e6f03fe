# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A picture of 240x240 pixels on a Raspberry Pi Pico, in stripes that come from a pool.

The whole picture is 115,200 bytes in RGB565: half of what is free, in one piece. A stripe of 24
lines is 11,520; two of them, made once, are enough to draw one while the other is on its way to
the display. Runs under MicroPython (framebuf), CircuitPython (displayio) and on a desk.
"""

import gc

import maixmem
from maixmem_pool import BufferPool

try:
    import framebuf
except ImportError:  # CircuitPython
    framebuf = None

WIDTH, HEIGHT, LINES = 240, 240, 24
SKY, GROUND = 0x5E9A, 0x2589  # RGB565


def draw(buf, top):
    """Draws the lines from `top` on into the stripe: sky above, ground below."""
    for y in range(LINES):
        color = SKY if top + y < HEIGHT * 2 // 3 else GROUND
        if framebuf:
            framebuf.FrameBuffer(buf, WIDTH, LINES, framebuf.RGB565).hline(0, y, WIDTH, color)
        else:
            pixel = bytes((color & 255, color >> 8))
            buf[y * WIDTH * 2 : (y + 1) * WIDTH * 2] = pixel * WIDTH


def send(buf, top):
    """Here the stripe goes to your display: spi.write(buf) under MicroPython,
    bitmaptools.arrayblit(bitmap, memoryview(buf).cast("H"), 0, top) under CircuitPython."""


def main(frames=3):
    pool = BufferPool(WIDTH * LINES * 2, 2)
    for frame in range(frames):
        for top in range(0, HEIGHT, LINES):
            with pool.borrow() as buf:
                draw(buf, top)
                send(buf, top)
        gc.collect()
        free = ", {} bytes free".format(gc.mem_free()) if hasattr(gc, "mem_free") else ""
        print("frame {}: {} stripes{}".format(frame, HEIGHT // LINES, free))
    return pool


if __name__ == "__main__":
    maixmem.report()
    main()
