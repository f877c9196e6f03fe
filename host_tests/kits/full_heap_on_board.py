# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What test_full_heap_on_firmware.py runs on the board: two models and, taken by hand from
malloc's top, the rest of the system heap."""

import gc
import os

import maixmem
from Maix import utils
from maixmem import Watch
from maixmem_camera import check_camera
from maixmem_flash import FlashMap
from maixmem_models import ModelManager
from maixmem_pool import ImagePool

SIZES = {0x300000: 159768, 0x500000: 208072}  # of the files


def add(name, source):
    if p.reads:
        m.add(name, source)
    else:
        m.add(name, source, nbytes=SIZES[source])


def top():
    """(number of the word, bytes) of the top chunk."""
    heap.look()
    i = (heap.top - 0x80000000) >> 2
    return i, heap.words[i + 2] & -16


def carve(n):
    """The first n bytes of the top chunk are in use from now on."""
    i, size = top()
    heap.words[i + n // 4 + 2] = size - n | 1
    heap.words[i + n // 4 + 3] = 0
    heap.words[i + 2] = n | 1
    heap.words[heap.table + 4] = heap.top + n


def leave(n):
    """Takes all but one block of n bytes, or a few more; prints what is left."""
    while True:
        p.free_bytes()
        more = p.behind + top()[1] - n - 40
        if p.behind and top()[1] < 200:  # let the top grow by what a call takes
            if p.reads:
                last = p.behind < 112000
                utils.flash_read(0, (p.behind - 200) // 4 if last else 10000)
                gc.collect()
            elif p.behind < 20480:
                break
            else:
                os.listdir("/flash")
        take = min(top()[1] - 64, more) & -16
        if take < 32:
            break
        carve(take)
    gc.collect()
    p.free_bytes()
    print(p.largest)


m = ModelManager()
p = m.port
p.reads = "flash_read" not in p.lacks
heap = p.heap
add("a", 0x300000)
add("b", 0x500000)
m.use("a")
