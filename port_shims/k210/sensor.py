# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's sensor module: the memory of the camera's frame buffers."""

import k210_board as board

GRAYSCALE = 1
RGB565 = 2
QQVGA = 3
QVGA = 8
VGA = 10
_SIZES = {QQVGA: (160, 120), QVGA: (320, 240), VGA: (640, 480)}


def _drop():
    for block in board.state.buffers.pop("sensor", ()):
        board.heap.free(block)


def reset(freq=24000000, set_regs=True, choice=0, dual_buff=False):
    board.point("sensor.reset")
    _drop()


def deinit():
    board.point("sensor.deinit")
    _drop()


def set_pixformat(fmt):
    board.point("set_pixformat")


def set_framesize(size):
    board.point("set_framesize")
    _drop()
    w, h = _SIZES[size]
    blocks = []
    for n in ((w * h * 2 + 127) & ~127, (w * h * 3 + 63) & ~63):
        block = board.heap.malloc(n)
        if not block:
            for b in blocks:
                board.heap.free(b)
            raise OSError(12)
        blocks.append(block)
    board.state.buffers["sensor"] = blocks


def skip_frames(*args, **kwargs):
    board.alive()


def run(on):
    board.alive()
