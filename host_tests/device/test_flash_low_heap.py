# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A scan when the system heap is nearly gone: it reads what it can, tells the rest, and never
hangs the board."""

import gc

import k210_board
import kmodel_build
from devtest import SLOW, raises
from Maix import utils
from maixmem import FlashOverlap
from maixmem_flash import FlashMap

# in memory: there is no room to read them
for _part in ("flash_scan", "flash_check", "flash_text", "text", "kmodel"):
    __import__("maixmem_" + _part)

NEEDS = ("shim",)  # a board would need a hard reset for each heap size
HEAP = "4m"

BOOT_AND_GC = 4734976 + 524288  # of the minimum build, measured on the firmware (v0.6.2_84)


def test_every_heap_level_is_all_or_told():
    face = kmodel_build.v3((8, 8, 1), [("conv", 4)]).to_bytes()
    whole = []
    levels = list(range(0, 65536, 4096))
    for free in levels[:5] + levels[-1:] if SLOW else levels:
        gc.collect()
        k210_board.reset("minimum", gc_heap=BOOT_AND_GC - free, flash={0x300000: face})
        assert utils.heap_free() == free
        k210_board.heap.fill_up()  # nothing is left of the boot's pages
        m = FlashMap().scan(gaps=False)
        if m.unread:
            assert [r.kind for r in m.regions] == ["filesystem"] and m.notes == []
            assert "not read" in str(raises(FlashOverlap, m.check))
        else:
            assert sorted([r.kind for r in m.regions]) == ["filesystem", "firmware", "model"]
        whole.append(not m.unread)
        assert k210_board.heap.limit - k210_board.heap.top == free + 32  # some in the top now
    first = whole.index(True)
    assert 0 < first <= 4 and all(whole[first:]) and not any(whole[:first]), whole
