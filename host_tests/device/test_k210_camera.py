# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The verdict on a frame size is what the camera then does; models make room for it and come
back."""

import k210_board as board
import maixmem
import sensor
from devtest import SLOW, raises
from kmodel_build import v3
from maixmem_camera import blocks, check_camera, make_room
from maixmem_models import ModelManager

NEEDS = ("shim",)

A, B = 0x300000, 0x700000
SIZES = (
    (80, 60, sensor.QQQVGA),
    (160, 120, sensor.QQVGA),
    (320, 240, sensor.QVGA),
    (640, 480, sensor.VGA),
)


def started(**camera):
    model = v3((28, 28, 1), [("conv", 16), ("raw", 2, 700000)], main_mem=200000)
    board.reset("full", flash={A: model, B: model})
    sensor.reset(**camera)
    sensor.set_pixformat(sensor.RGB565)
    m = ModelManager(maixmem.port().for_models(), keep=2)
    m.add("a", A)
    m.add("b", B)
    return m


def came(size):
    try:
        sensor.set_framesize(size)
        return True
    except OSError:
        return False


def test_a_verdict_is_what_the_camera_does():
    seen = []
    for buffers in (1, 2):
        for left in (0, 384000, 800000) if SLOW else (0, 100000, 384000, 420000, 800000, 1600000):
            m = started(dual_buff=buffers == 2)
            board.heap.malloc(board.heap.heap_free() - left - 64)
            for i in (1, 2, 3, 1, 0, 2):  # larger and smaller ones after each other
                w, h, size = SIZES[i]
                error = check_camera(w, h, buffers)
                fits = came(size)
                assert (error is None) == fits, (buffers, left, w, h)
                seen.append(fits)
                if not fits:
                    assert error.need == buffers * sum(blocks(w, h)) and error.region == "heap"
                    assert str(w) in str(error) and "Next:" in str(error)
                    break
            m.release_all()
    assert True in seen and False in seen


def test_models_make_room_and_come_back():
    m = started()
    m.use("a")
    m.use("b")
    board.heap.malloc(board.heap.heap_free() - 262144 - 64)
    assert check_camera(320, 240)
    make_room(m, 320, 240)
    assert [x.name for x in m.loaded()] == ["b"] and check_camera(320, 240) is None
    assert came(sensor.QVGA)
    sensor.reset()
    assert m.use("a").ready
    m.release_all()


def test_nothing_goes_where_that_would_not_help():
    import maixmem_text  # in memory: there is no room left to read it

    assert maixmem_text
    m = started()
    m.use("a")
    m.use("b")
    board.heap.malloc(board.heap.heap_free() - 64)
    e = raises(maixmem.NoRoom, make_room, m, 1600, 1200)
    assert len(m.loaded()) == 2 and "1600x1200" in str(e)
    m.release_all()


def test_a_damaged_heap_is_said_and_nothing_goes():
    m = started()
    m.use("a")
    board.ram.poked = {board.heap.top + 8: 0}
    e = raises(maixmem.NoRoom, make_room, m, 320, 240)
    assert "damaged at " + hex(board.heap.top) in str(e) and e.need is None
    board.ram.poked = {}
    assert len(m.loaded()) == 1 and check_camera(320, 240) is None
    m.release_all()
