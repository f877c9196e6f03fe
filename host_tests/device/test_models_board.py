# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The model manager with real models on a board: `on_target --model ADDR...` says where they are.
On the stand-in, built ones."""

import gc
import sys

import image
import KPU as kpu
import maixmem
from devtest import SLOW, Skip, needs, raises
from Maix import utils
from maixmem import NoRoom
from maixmem_kmodel import read_info
from maixmem_models import ModelManager, ModelReleasedError

try:
    import k210_board
except ImportError:
    k210_board = None  # a real board

HEAP = "2m"

SWITCHES = 16 if SLOW else 80


def models():
    """Flash addresses of models; those that are built are placed for the stand-in."""
    if k210_board is None:
        needs("Maix.utils.heap_free", "Maix.utils.flash_read")
        try:
            from board_models import MODELS
        except ImportError:
            MODELS = ()
        if len(MODELS) < 2:
            raise Skip("no models named: --model ADDR, at least two")
        return MODELS
    from kmodel_build import v3, v4

    layers = [("conv", 16), ("raw", 2, 200000)]
    flash = {
        0x300000: v3((28, 28, 1), layers),
        0x400000: v3((28, 28, 1), layers + [("raw", 2, 180000)]),
        0x500000: v3((28, 28, 1), layers + [("raw", 2, 500000)]),
        0x600000: v4((28, 28, 1), [("conv", 16)], main_mem=2600000),
    }
    k210_board.reset("full", flash=flash)
    return sorted(flash)


def settled():
    """heap_free() with nothing that a collection or a flash read would still give back."""
    gc.collect()
    # less on the stand-in: its own modules leave no 32 KiB of the GC heap in one piece
    utils.flash_read(0, 8192 if k210_board else 32768)
    gc.collect()
    return utils.heap_free()


def manager(addresses):
    m = ModelManager(maixmem.port())
    for a in addresses:
        m.add(a, a)
    return m


def test_switches_among_all_models():
    addresses = models()
    m = manager(addresses)
    came = {}
    for a in addresses:
        try:
            m.use(a)
            came[a] = True
        except (NoRoom, ValueError) as e:  # refused: no room, or not for this build
            assert "resident now" in str(e), e
            came[a] = False
    assert [a for a in came if came[a]], came
    m.release_all()
    heap = settled()
    used = gc.mem_alloc()
    for i in range(SWITCHES):
        a = addresses[i % len(addresses)]
        try:
            net = m.use(a)
            assert came[a] and net.raw is not None
        except (NoRoom, ValueError):
            assert not came[a], a
        assert len([x for x in m.models.values() if x.handle is not None]) == 1
    m.release_all()
    after = settled()
    assert after >= heap - 4096, (heap, after)
    # the stand-in keeps its own books in this GC heap; test_models judges the heap on CPython
    if not k210_board:
        assert gc.mem_alloc() - used < 4096, (used, gc.mem_alloc())
    print(
        "switches {} came {} refused {}".format(
            m.switches, sum(came.values()), len(came) - sum(came.values())
        )
    )


def test_what_is_measured_is_what_was_predicted():
    m = manager(models())
    for x in m.models.values():
        settled()
        try:
            m.use(x.name)
        except (NoRoom, ValueError):
            continue
        need = x.cost.need["heap"]
        # heap_free() moves in pages, and less than 128 KiB that the last read of flash leaves at
        # the top stays unseen
        assert need <= x.took + 4096 and x.took < need + 131072 + 4096, (x.name, need, x.took)
    m.release_all()


def test_a_released_net_refuses():
    addresses = models()
    m = manager(addresses)
    net = m.use(addresses[0])
    m.release(addresses[0])
    img = image.Image(size=(28, 28))
    for call in (net.forward, net.run, net.run_yolo2):
        raises(ModelReleasedError, call, img)
    for wrong in (1, "x", None):
        raises(TypeError, net.forward, wrong)
    m.use(addresses[0])
    raises(ValueError, net.run_yolo2, img)
    m.release_all()


def test_models_of_an_earlier_run():
    if k210_board and sys.implementation.version < (1, 11):
        raise Skip("this interpreter has no finalisers")
    addresses = models()
    first = manager(addresses)
    first.use(addresses[0])
    cost = first.models[addresses[0]].cost
    for _ in range(4):
        if first.port.check_fit(cost):  # no room for one more: a bare load would hang the board
            break
        kpu.load(addresses[0])
    first = None  # the IDE starts a script again: nobody holds these models any more
    m = manager(addresses)
    m.use(addresses[0])
    m.use(addresses[1])
    m.release_all()


def test_forward_allocates_what_the_firmware_allocates():
    if k210_board:
        raise Skip("the stand-in allocates in Python")
    m = manager(models())
    for a in models():
        shape = read_info(a).inputs[0][0]
        if shape and shape[2] * shape[3] * 5 < 100000:
            break
    else:
        raise Skip("no model with a small input")
    net = m.use(a)
    img = image.Image(size=(shape[3], shape[2]))
    if shape[1] == 1:
        img = img.to_grayscale()
    img.pix_to_ai()
    raw = net.raw
    taken = []
    for call, first in ((net.forward, img), (None, raw)):
        for n in (1, 50):
            gc.collect()
            gc.disable()
            before = gc.mem_alloc()
            for _ in range(n):
                if call:
                    net.forward(img)
                else:
                    kpu.forward(raw, img, 0)
            taken.append(gc.mem_alloc() - before)
            gc.enable()
    m.release_all()
    assert taken[1] - taken[0] == taken[3] - taken[2], taken
