# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210 port when the system heap is nearly gone: where the firmware hangs, the port refuses or
copes."""

import k210_board
import maixmem
from devtest import raises
from Maix import utils

NEEDS = ("shim",)  # a board would need a hard reset for each heap size
HEAP = "5m"

BOOT_AND_GC = 4734976 + 524288  # of the minimum build, measured


def board_with(free):
    """A minimum board that has `free` bytes of system heap at its prompt."""
    k210_board.reset("minimum", gc_heap=BOOT_AND_GC - free)
    assert utils.heap_free() == free, utils.heap_free()
    k210_board.heap.fill_up()
    return maixmem.port()


def test_read_flash_copes_at_every_heap_level():
    outcomes = []
    for free in range(0, 65536, 4096):
        p = board_with(free)
        try:
            assert len(p.read_flash(0, 16384)) == 16384
            outcomes.append(True)
        except maixmem.NoRoom as e:
            assert e.region == "heap" and e.need > e.free == max(0, free - 40)
            assert str(e.need) in str(e) and str(e.free) in str(e)
            outcomes.append(False)
    first = outcomes.index(True)
    assert first <= 4 and all(outcomes[first:]) and not any(outcomes[:first]), outcomes


def test_the_plain_call_hangs_there():
    board_with(16384)
    e = raises(k210_board.DeviceCrash, utils.flash_read, 0, 16384)
    assert e.cause and e.cure
    board_with(16384)
    assert len(maixmem.port().read_flash(0, 16384)) == 16384


def test_a_gc_heap_that_fell_back_is_seen():
    more_than_ram = 16 << 20
    k210_board.reset("minimum", gc_heap=more_than_ram)
    said = " ".join(maixmem.port().warnings())
    assert str(more_than_ram) in said and "could not be allocated" in said, said
