# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The stand-in's system heap against the firmware (v0.6.2_84): every number here was measured
there."""

import struct

import k210_board as board
import KPU as kpu
from devtest import raises
from kmodel_build import v3, v4
from Maix import utils

NEEDS = ("shim", "not mp2019")  # the stand-in itself: a program for desks

A = 0x300000
BOOT = {"minimum": 4734976, "openmv_v4": 3850240, "full": 2437120, "lvgl": 2244608}
GC_BASE = {"minimum": 0x800CF3D0, "openmv_v4": 0x801A7360, "full": 0x802FFD80, "lvgl": 0x8032EA70}


class Raw:
    """A model of this size and main memory whose one layer is zeros: V3, or V4 as a firmware of
    that version reads it."""

    def __init__(self, size, main_mem, v4=False):
        self.size = size
        if v4:
            head = (0x4B4D444C, 4, 0, 1, 0, main_mem, 1, 0, 0, 0, 15, size - 48)
        else:
            head = (3, 1, 0, 1, 0, main_mem, 1, 0, 8, 15, size - 44)
        self._head = struct.pack("<%dI" % len(head), *head)

    def read(self, offset, n):
        n = min(n, self.size - offset)
        part = self._head[offset : offset + n]
        return part + b"\0" * (n - len(part))


FACE = Raw(388776, 45000)
MNIST = Raw(208072, 14112)
FRUIT = Raw(1910696, 9800)


def test_boot_of_every_build():
    assert sorted(BOOT) == sorted(board.FIRMWARES)
    for name, free in BOOT.items():
        board.reset(name)
        assert utils.heap_free() == free, (name, utils.heap_free())
        assert board.heap.live() == 0 and board.kpu_live() == 0 and board.nets() == []


# {build: {gc_heap_size: heap_free()}}, after a hard reset
OTHER_GC = {
    "minimum": {
        8192: 5398528,
        12288: 5398528,
        16384: 5242880,
        24576: 5234688,
        32768: 5226496,
        40960: 5218304,
        65536: 5193728,
        100001: 5160960,
        262144: 4997120,
        524289: 4734976,
        530000: 4730880,
        1048576: 4210688,
        1228768: 4030464,
        1228784: 4030464,
        1500000: 3760128,
        3145728: 2113536,
        4894304: 368640,
        6291456: 5128192,
        0xFFFFFFFF: 5128192,
    },
    "openmv_v4": {
        262144: 4112384,
        1048576: 3325952,
        100001: 4276224,
        530000: 3846144,
        12288: 4513792,
        1228784: 3145728,
    },
    "full": {
        262144: 2699264,
        1048576: 1912832,
        100001: 2863104,
        530000: 2433024,
        16384: 2945024,
        1228784: 1732608,
    },
    "lvgl": {
        262144: 2506752,
        1048576: 1720320,
        100001: 2670592,
        530000: 2240512,
        40960: 2727936,
        1228784: 1540096,
    },
}


def test_heap_free_follows_the_gc_heap():
    for name, figures in OTHER_GC.items():
        for size, free in figures.items():
            board.reset(name, gc_heap=size)
            assert utils.heap_free() == free, (name, size, utils.heap_free())


# {gc_heap_size: mem_alloc() + mem_free()} on the minimum build
POOLS = {
    8192: 8064,
    65536: 64640,
    100001: 98816,
    131072: 129536,
    262144: 259072,
    524288: 518144,
    983040: 971520,
    1048576: 1036288,
    1500000: 1482496,
    4894304: 4837504,
    6291456: 129536,
    0xFFFFFFFF: 129536,
}


def test_usable_gc_heap():
    for size, pool in POOLS.items():
        board.reset("minimum", gc_heap=size)
        assert board.gc_pool() == pool, (size, board.gc_pool())


def test_no_boot_with_a_tiny_gc_heap():
    for size in (1000, 2720):
        e = raises(board.DeviceCrash, board.reset, "minimum", size)
        assert "nlr_jump_fail" in e.cause
        raises(board.DeviceCrash, utils.heap_free)
    board.reset("minimum", 2784)
    assert utils.heap_free() > 0


def test_load_deinit_and_load_again():
    board.reset("minimum", flash={A: FACE})
    net = kpu.load(A)
    assert utils.heap_free() == 4321280
    assert board.kpu_live() == 388776 + 45000 + 449
    kpu.deinit(net)
    assert utils.heap_free() == 4755456 and board.kpu_live() == 0
    kpu.load(A)
    assert utils.heap_free() == 4321280


def test_four_loads_freed_in_both_orders():
    board.reset("minimum", flash={A: FACE})
    nets = [kpu.load(A) for _ in range(4)]
    low = utils.heap_free()
    for net in nets[:3]:
        kpu.deinit(net)
        assert utils.heap_free() == low
    kpu.deinit(nets[3])
    assert utils.heap_free() == 4755456
    nets = [kpu.load(A) for _ in range(4)]
    seen = []
    for net in reversed(nets):
        kpu.deinit(net)
        seen.append(utils.heap_free())
    assert seen == sorted(seen) and seen[0] > low and seen[-1] == 4755456


def test_a_freed_hole_is_invisible_and_usable():
    board.reset("minimum", flash={A: FRUIT, 0x600000: FACE})
    fruit = kpu.load(A)
    kpu.load(0x600000)
    below = utils.heap_free()
    kpu.deinit(fruit)
    assert utils.heap_free() == below
    kpu.load(A)
    assert below - utils.heap_free() < 65536


def test_flash_read_moves_heap_free():
    board.reset("minimum")
    utils.flash_read(0, 16384)
    assert utils.heap_free() == 4734976 - 69632
    utils.flash_read(0, 32768)
    assert utils.heap_free() == 4755456


def outcome(model, firmware, free, path=None):
    """What a load does with this much heap_free(): works, 2006 or hangs."""
    gc_heap = BOOT[firmware] + (512 << 10) - free
    board.reset(firmware, gc_heap=gc_heap, flash={A: model}, files={"/flash/m.kmodel": model})
    assert utils.heap_free() == free, (utils.heap_free(), free)
    try:
        kpu.load(path or A)
    except board.DeviceCrash:
        return "hangs"
    except ValueError as e:
        assert "load error:2006, ERR_NO_MEM: memory not enough" in str(e)
        return "2006"
    return "works"


# model, build, least heap_free() that works
LEAST = (
    (MNIST, "minimum", 475136),
    (Raw(1885896, 188160), "minimum", 2154496),
    (FRUIT, "minimum", 2179072),
    (Raw(1284912, 1667328, v4=True), "openmv_v4", 2932736),
)


def test_least_heap_free_of_a_load():
    for model, name, least in LEAST:
        assert outcome(model, name, least) == "works", least
        assert outcome(model, name, least - 4096) == "hangs", least
        fits = (model.size + 256 + 4095) & ~4095
        assert outcome(model, name, fits + 4096) == "hangs", fits
        assert outcome(model, name, (model.size & ~4095) - 32768) == "2006"


def test_least_heap_free_of_a_load_from_a_file():
    assert outcome(MNIST, "minimum", 208896 + 4096, "/flash/m.kmodel") == "works"
    assert outcome(MNIST, "minimum", 200704, "/flash/m.kmodel") == "2006"


def test_flash_read_hangs_where_the_driver_has_no_room():
    for free, n, works in (
        (65536, 16384, False),
        (69632, 16384, True),
        (262144, 65536, False),
        (266240, 65536, True),
    ):
        board.reset("minimum", gc_heap=BOOT["minimum"] + (512 << 10) - free)
        if works:
            assert len(utils.flash_read(0, n)) == n
        else:
            e = raises(board.DeviceCrash, utils.flash_read, 0, n)
            assert str(4 * n + 130) in e.cause and e.cure


def test_main_memory_that_does_not_fit():
    free = BOOT["openmv_v4"]
    for model, expected in (
        (Raw(1000000, free), "2006"),
        (Raw(1000000, free, v4=True), "hangs"),
        (Raw(1000000, 4096, v4=True), "works"),
    ):
        assert outcome(model, "openmv_v4", free) == expected


def test_the_order_of_blocks_is_that_of_the_library():
    board.reset(
        "full",
        flash={
            A: v4((64, 64, 3), [("conv", 24), ("softmax",)]),
            0x400000: v3((28, 28, 1), [("conv", 8)]),
        },
    )
    for address, blocks in ((A, 5), (0x400000, 4)):
        net = kpu.load(address)
        assert len(board.nets()[0].blocks()) == blocks
        kpu.deinit(net)
    assert board.heap.live() == 0
