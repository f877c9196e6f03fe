# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210 port when the system heap is nearly gone: where the firmware hangs, the port refuses or
copes."""

import sys

import k210_board
import k210_files
import maixmem
from devtest import OLD, Skip, raises
from kmodel_build import v3
from Maix import utils
from maixmem_models import ModelManager

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


# --- parts that lie in flash ---


class Card:
    """uos of a board that started with a card."""

    getcwd = staticmethod(lambda: "/sd")


READ = 16514  # a page, four bytes for each, and 130: unchecked, so the firmware hangs without


def without(name):
    """The library as on a board that has not fetched this part."""
    if OLD:
        raise Skip("the modules of this runner are always there")
    sys.modules.pop("maixmem_" + name, None)


def leave(p, n):
    """Takes what malloc has behind its break but a block of n to n + 31 bytes."""
    p.free_bytes()
    while p.behind > 131072:
        k210_board.heap.malloc(65536)
        p.free_bytes()
    k210_board.heap.free(k210_board.heap.malloc(p.largest))  # now all of it is within the break
    p.free_bytes()
    k210_board.heap.malloc(p.largest - n - 32)
    p.free_bytes()
    assert n <= p.largest < n + 32, p.largest


def with_room_for(n):
    """A board with all of the library in flash, and n bytes of system heap."""
    p = board_with(65536)
    leave(p, n)
    return p


def test_a_part_is_fetched_only_where_there_is_room_to_read_it():
    for n in (READ + 32, READ, READ - 32, 8000, 64):
        p = with_room_for(n)
        without("text")
        without("status")
        if p.largest >= READ:
            p.refuse()
            assert "keep is 0" in maixmem.message("keep", 0)
            continue
        e = raises(maixmem.NoRoom, maixmem.resident, "status")
        assert (e.region, e.need, e.free) == ("heap", READ, p.largest)
        assert str(READ) in str(e) and str(p.largest) in str(e) and "release()" in str(e), e
        said = maixmem.message("keep", 0)
        assert "keep" not in said and "release()" in said and str(READ) in said, said


def test_parts_in_memory_and_on_a_card_need_no_room_in_flash():
    with_room_for(8000)
    import maixmem_status

    assert maixmem.resident("status") is maixmem_status
    without("status")
    plain = sys.modules.get("uos")
    sys.modules["uos"] = Card
    try:
        assert maixmem.resident("status")
    finally:
        if plain:
            sys.modules["uos"] = plain
        else:
            del sys.modules["uos"]


def test_a_model_that_has_to_go_goes_where_no_part_can_be_read():
    large, small = [
        v3((28, 28, 1), [("conv", 16), ("raw", 2, n)], main_mem=20000) for n in (700000, 200000)
    ]
    k210_board.reset("minimum", flash={0x300000: large, 0x700000: small})
    m = ModelManager()
    m.add("a", 0x300000)
    m.add("b", 0x700000)
    m.use("a")
    parts = ("k210_fit", "k210_malloc", "recover", "text", "k210_cause", "k210_gc")
    for part in parts:
        without(part)
    leave(m.port, 8192)
    assert m.use("b").ready and m.loaded() == [m.models["b"]]
    m.release_all()
    for part in parts:
        without(part)
    while k210_board.heap.malloc(8192):
        pass
    e = raises(maixmem.NoRoom, m.use, "a")
    assert str(READ) in str(e) and m.state == "empty", str(e)
