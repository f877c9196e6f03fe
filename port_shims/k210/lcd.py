# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's lcd module: the memory of the display buffer."""

import k210_board as board


def init(*args, **kwargs):
    board.point("lcd.init")
    if "lcd" not in board.state.buffers:
        board.state.buffers["lcd"] = [board.heap.malloc(320 * 240 * 2)]


def deinit():
    board.point("lcd.deinit")
    for block in board.state.buffers.pop("lcd", ()):
        board.heap.free(block)


def display(img, *args, **kwargs):
    board.alive()


def clear(*args):
    board.alive()
