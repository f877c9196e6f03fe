# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Frees a model of YOLO on the K210 and mends what the firmware writes over. Comes in with the
first init_yolo2(), and stays: it takes the place of the port's unload().

kpu.deinit() frees a block of 24 bytes and then clears its last word but one. Where the block
behind is in use, that is the size of the free chunk before it, by which the next free() of that
block goes (six images of v0.6.2-16 and v0.6.2-84).
"""

from maixmem import const
from maixmem_k210_kpu import Port, kpu

_RAM = const(0x80000000)
_HEADS = const(512)  # words of malloc's table
_MOST = const(5000)  # free chunks: more are a list that runs in a circle


def unload(self, handle) -> None:
    """kpu.deinit; harmless when it was done. Allocates nothing."""
    self.free_bytes()
    try:
        kpu.deinit(handle)
    finally:
        if self.exact:  # whole before
            at = self.heap.look()
            if at:
                mend(self.heap.words, self.heap.table, at)


def mend(words, table: int, at: int) -> None:
    """Writes the size of a free chunk behind it, at this address, where the head of the chunk has
    it, the block there says that it follows a free one, and the word is 0. All else stays."""
    behind = (at - _RAM) >> 2
    if words[behind] or words[behind + 2] & 1:
        return
    top, left = (words[table + 4] - _RAM) >> 2, _MOST
    for own in range(table + 4, table + _HEADS, 4):  # as look() goes
        i = own
        while words[i + 6] != _RAM + 4 * own:
            i = (words[i + 6] - _RAM) >> 2
            left -= 1
            if not table < i < top or not left:  # other damage: not ours
                return
            size = words[i + 2] & -16
            if _RAM + 4 * i + size == at:
                words[behind] = size
                return


Port.unload = unload  # type: ignore[assignment]
