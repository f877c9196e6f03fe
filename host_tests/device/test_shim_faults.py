# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Fault points of the stand-in, lost models, files and resets."""

import gc

import k210_board as board
import KPU as kpu
import machine
import sensor
from devtest import Skip, raises
from k210_gc import finaliser
from kmodel_build import v3, v4
from Maix import utils

NEEDS = ("shim", "not mp2019")  # the stand-in itself: a program for desks
HEAP = "4m"

A, B = 0x300000, 0x400000


def on(firmware="full"):
    board.reset(
        firmware,
        flash={A: v3((28, 28, 1), [("conv", 16)]), B: v4((28, 28, 1), [("conv", 8)])},
        files={"/flash/m.kmodel": v3((28, 28, 1), [("conv", 8)])},
    )


def points(f, *args):
    """The fault points that a call passes."""
    on()
    f(*args)
    return list(board.faults.names)


def test_points_are_counted_and_named():
    names = points(kpu.load, A)
    assert board.faults.count == len(names) == 5 and names[0] == "load: slot", names
    board.faults.clear()
    assert board.faults.count == 0 and board.faults.names == []
    raises(ValueError, board.faults.fail, 0, OSError(5))


def test_every_point_of_a_load_gives_back_what_it_took():
    for source in (A, B, "/flash/m.kmodel"):
        for k in range(1, len(points(kpu.load, source)) + 1):
            on()
            board.faults.fail(k, MemoryError("k"))
            raises(MemoryError, kpu.load, source)
            assert board.heap.live() == 0 and board.nets() == [], (source, k)
            net = kpu.load(source)
            kpu.deinit(net)
            assert board.heap.live() == 0


def test_a_fault_for_ever():
    on()
    board.faults.fail(3, OSError(5), True)
    for _ in range(3):
        raises(OSError, kpu.load, A)
    board.faults.clear()
    kpu.load(A)


def test_deinit_and_other_calls_can_fail():
    on()
    net = kpu.load(A)
    board.faults.clear()
    board.faults.fail(1, KeyboardInterrupt())
    raises(KeyboardInterrupt, kpu.deinit, net)
    assert net in board.nets()
    assert kpu.deinit(net) is True
    for f in (utils.gc_heap_size, sensor.reset, lambda: utils.flash_read(0, 4)):
        board.faults.clear()
        board.faults.fail(1, OSError(5))
        raises(OSError, f)


def lose():
    kpu.load(A)


def overwrite_stack(depth):
    """The collector of MicroPython takes stale words on the stack for references."""
    if depth:
        overwrite_stack(depth - 1)


def test_a_lost_model_is_freed_by_a_collection():
    if type(finaliser).__name__ == "_Never":
        raise Skip("this interpreter has no finalisers")
    on()
    for _ in range(3):
        lose()
    assert len(board.nets()) == 3
    overwrite_stack(8)
    board.collect()
    assert len(board.nets()) <= 1, board.nets()


def test_collect_can_be_told_what_is_alive():
    on()
    kept = kpu.load(A)
    kpu.load(B)
    board.collect([kept])
    assert kept in board.nets() and len(board.nets()) == 1
    assert board.heap.live() == board.kpu_live()


def test_soft_reset_frees_models_and_camera():
    on()
    kpu.load(A)
    sensor.reset()
    sensor.set_framesize(sensor.QQVGA)
    board.soft_reset()
    assert board.nets() == [] and board.heap.live() == 0


def test_hard_reset_keeps_flash_and_configuration():
    on()
    kpu.load(A)
    utils.gc_heap_size(262144)
    raises(board.HardReset, machine.reset)
    assert board.nets() == [] and board.heap.live() == 0
    assert utils.gc_heap_size() == 262144 and utils.heap_free() == 2699264
    kpu.load(A)


def test_files():
    on()
    board.mount_file("/sd/n.kmodel", v3((28, 28, 1), [("conv", 8)]))
    for name in ("/flash/m.kmodel", "m.kmodel", "/sd/n.kmodel"):
        net = kpu.load(name)
        assert net.model_path() == name and net.model_addr() is None
        kpu.deinit(net)
    with board.open_file("/sd/n.kmodel") as f:
        assert f.read(4) == b"\x03\x00\x00\x00" and f.seek(0, 2) > 100


def test_the_firmware_header():
    for name in board.FIRMWARES:
        board.reset(name)
        n = board.FIRMWARES[name].image
        head = board.read_flash(0, 5)
        assert head[0] == 0 and int.from_bytes(head[1:5], "little") == n
        assert board.read_flash(n + 37, 3) == b"\xff\xff\xff"
        assert board.read_flash(n + 5, 32) != b"\xff" * 32


def test_the_digest_of_the_firmware_is_right():
    try:
        import hashlib
    except ImportError:
        raise Skip("no hashlib")
    board.reset("minimum")
    end = board.FIRMWARES["minimum"].image + 5
    digest = hashlib.sha256()
    for at in range(0, end, 4096):
        digest.update(board.read_flash(at, min(4096, end - at)))
    assert digest.digest() == board.read_flash(end, 32)


def test_flash_regions():
    board.reset("minimum", flash={A: b"abc", A + 1: b"X"})
    assert board.read_flash(A - 1, 5) == b"\xffaXc\xff"
    raises(ValueError, board.reset, "minimum", flash={0xFFFFFF: b"abc"})
    board.reset()
    gc.collect()
