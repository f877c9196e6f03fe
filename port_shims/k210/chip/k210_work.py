# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Runs the table of what image functions take of the system heap (k210_model.image_work)."""

import k210_board as board
import k210_files as files
import k210_found as found
from k210_model.image_work import ALL, FREE, OF_TWO, WORK, block_bytes, inside

_NO_ROOM = (
    "Out of Memory! Please reduce the resolution of the image you are running this "
    "algorithm on to bypass this "
    "issue!"
)
_NO_SLOT = "Too many fb_alloc! no space save! try again or reduce img size!"
_SLOTS = 100  # blocks that the firmware remembers; asked in vain for the largest, it looks at none

#: what is found in a black picture
_FOUND = dict.fromkeys(
    [n for n in WORK if n[:5] == "find_" and n != "find_edges"], lambda img, args, kwargs: []
)
_FOUND.update({"find_blobs": found.blobs, "get_regression": found.regression})


def use(sizes, meanwhile=None):
    """Takes the blocks in turn and gives them back; MemoryError, in the firmware's words, when one
    does not fit.

    `meanwhile` is called while all are held.

    As on the board, what was taken before the one that failed is not given back, and its slots are
    not either."""
    held = []
    for n in sizes:
        if n == FREE:
            board.heap.free(held.pop())
            continue
        if n != ALL and board.state.slots + len(held) >= _SLOTS:
            raise MemoryError(_NO_SLOT)
        block = board.heap.malloc(block_bytes(n, board.state.firmware.fb_all))
        if not block:
            board.state.slots += len(held)
            raise MemoryError(_NO_ROOM)
        held.append(block)
    if meanwhile:
        meanwhile()
    while held:
        board.heap.free(held.pop())


def methods():
    """{name: method of an image}: in-place functions give the image, others what is found."""
    return {name: _method(name) for name in WORK}


def _method(name):
    point = "image." + name

    def method(img, *args, **kwargs):
        board.point(point)
        img._touched()
        if WORK[name] in OF_TWO and not args:
            return img
        if WORK[name] in OF_TWO and isinstance(args[0], str):
            files.needs(args[0])
        use(WORK[name](img, args, kwargs))
        return _FOUND[name](img, args, kwargs) if name in _FOUND else img

    return method
