# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""CanMV on the K210: its port on a stand-in that keeps the books of its sources. No image of it
was at hand."""

from __future__ import annotations

import importlib
import sys

import kmodel_build
import maixmem
import maixmem_report
import manager_kit as kit
import paths
import pytest
from maixmem import KModelError, NoRoom

GC_HEAP = 768432
SIZES = (8, 24, 40, 64)  # channels: models of their own sizes


@pytest.fixture
def canmv(monkeypatch):
    """(stand-in module maix, board): the program runs on CanMV, and nothing of MaixPy can be
    imported."""
    mine = [
        n
        for n in sys.modules
        if n == "maix" or n.startswith(("maix.", "maixmem_k210", "maixmem_canmv"))
    ]
    for name in mine:
        monkeypatch.delitem(sys.modules, name)
    for name in ("Maix", "KPU"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.syspath_prepend(str(paths.SHIMS / "canmv"))
    monkeypatch.setattr(sys, "platform", "CanMV")
    board = importlib.import_module("k210_board")
    models = {f"/sd/{i}.kmodel": model(n) for i, n in enumerate(SIZES)}
    board.reset("minimum", gc_heap=GC_HEAP, flash={0x300000: model(SIZES[0])}, files=models)
    maix = importlib.import_module("maix")
    maix.slots.clear()
    maixmem.set_port(None)
    yield maix, board
    maixmem.set_port(None)
    for name in [n for n in sys.modules if n.startswith(("maixmem_k210", "maixmem_canmv"))]:
        del sys.modules[name]  # for good: monkeypatch brings back what was there before
    del sys.modules["maix"]


def model(channels: int) -> bytes:
    layers = [("conv", channels), ("dequantize",)]
    return bytes(kmodel_build.v3((28, 28, 3), layers).to_bytes())


class Rig:
    """CanMV with four models: three files, one at an address."""

    share = "evict"
    models = [(f"/sd/{i}.kmodel", {}) for i in range(3)] + [(0x300000, {})]
    refusal = ("load: model", MemoryError("model buffer memory allocation failed"))
    other = 0  # a block of somebody else's

    def __init__(self, maix, board) -> None:
        self.maix, self.board, self.faults = maix, board, board.faults

    def start(self):
        from maixmem_canmv_kpu import Port

        made = [model(n) for n in SIZES]
        files = {f"/sd/{i}.kmodel": made[i] for i in range(3)}
        self.board.reset("minimum", gc_heap=GC_HEAP, flash={0x300000: made[3]}, files=files)
        self.maix.slots.clear()
        self.other = 0
        return Port()

    def fill(self, left: int) -> None:
        heap = self.board.heap
        heap.free(self.other)
        self.other = heap.malloc(max(1, heap.limit - heap.top - left))

    def live(self) -> int:
        """Without the layers that init_yolo2() made for a deinit() that has yet to come."""
        heap = self.board.heap
        other = heap.asked(self.other) if self.other else 0
        taken = [x for x in self.maix.slots.taken if x is not None]
        return heap.live() - other - sum(heap.asked(a) for x in taken for a in x._yolo or ())


@pytest.mark.parametrize("check", kit.CHECKS, ids=lambda c: c.__name__)
def test_what_every_port_does(canmv, check):
    check(Rig(*canmv))


def test_every_fault_point(canmv):
    rig = Rig(*canmv)
    done = kit.sweep(rig, (OSError(5), KeyboardInterrupt()), kit.sizes(rig))
    assert min(done.values()) >= 4, done


def manager(**options):
    from maixmem_models import ModelManager

    found = ModelManager(**options)
    for i in range(len(SIZES)):
        found.add(i, f"/sd/{i}.kmodel")
    return found


def test_it_is_found_by_its_platform_and_reports(canmv, monkeypatch):
    assert maixmem_report.find_port() == "canmv"
    lines: list[str] = []
    found = maixmem.report(lines.append)
    assert found["port"] == "canmv" and [r["name"] for r in found["regions"]] == ["gc", "heap"]
    watch = maixmem.Watch()
    watch.sample()
    assert watch.names == ("gc", "heap", "largest") and set(watch.high_water().values()) == {0}
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setitem(sys.modules, "acl", None)  # another test's stand-in may be on the path
    assert maixmem_report.find_port() == "maixcam"


def test_models_take_turns_and_give_everything_back(canmv):
    maix, board = canmv
    live = board.heap.live()
    m = manager()
    for _ in range(5):
        for i in range(len(SIZES)):
            net = m.use(i)
            assert [x for x in maix.slots.taken if x] == [net.raw]
    m.release_all()
    assert board.heap.live() == live and maix.slots.taken == [None] * 8 and m.switches == 20
    m.status(lambda line: None)


def test_an_address_is_loaded_with_the_size_of_its_header(canmv):
    maix, board = canmv
    m = manager()
    m.add("flash", 0x300000)
    before = board.heap.spent()
    m.use("flash")
    cost = m.models["flash"].cost
    assert cost.need["heap"] >= board.heap.spent() - before > cost.nbytes == len(model(SIZES[0]))


def test_no_room_is_said_before_anything_is_freed(canmv):
    maix, board = canmv
    m = manager()
    net = m.use(0)
    block = board.heap.malloc(board.heap.heap_free() - 16384)
    with pytest.raises(NoRoom) as e:
        m.use(3)
    assert e.value.region == "heap" and net.raw is not None and "Next:" in str(e.value)
    board.heap.free(block)
    m.use(3)


def test_the_slots_go_round(canmv):
    """A model that stays blocks its slot when its turn comes again: said, or evicted where it may
    be."""
    maix, board = canmv
    live = board.heap.live()
    m = manager(keep=2)
    m.models[0].pin = True
    m.use(0)
    with pytest.raises(NoRoom) as e:
        for i in range(1, 9):
            m.use(1 + i % 2)
    assert e.value.region == "slots" and "/sd/0.kmodel" in str(e.value)
    assert maix.slots.index == 8 and maix.slots.taken[0] is m.models[0].handle
    m.release(0)
    m.use(1)
    m.release_all()
    assert board.heap.live() == live


def test_a_slot_of_an_earlier_run_loses_nothing(canmv):
    maix, board = canmv
    maix.slots.taken[0] = "somebody's"
    live = board.heap.live()
    m = manager()
    with pytest.raises(NoRoom, match="slot 0 of 8"):
        m.use(0)
    assert board.heap.live() == live


def test_what_the_firmware_would_die_of_is_refused(canmv):
    maix, board = canmv
    m = manager()
    net = m.use(0)
    with pytest.raises(ValueError, match="needs init_yolo2"):
        net.regionlayer_yolo2()
    net.init_yolo2((1.0,) * 10)
    with pytest.raises(ValueError, match="was done"):
        net.init_yolo2((1.0,) * 10)
    assert net.regionlayer_yolo2() == []
    for name in ("deinit", "load_kmodel", "forward"):
        with pytest.raises(AttributeError, match="release"):
            getattr(net, name)
    m.use(1)
    with pytest.raises(ValueError, match="released"):
        net.regionlayer_yolo2()
    assert board.state.dead is None


def test_files_that_are_no_models(canmv):
    maix, board = canmv
    board.mount_file("/sd/bad.kmodel", b"version https://git-lfs" * 30)
    m = manager()
    m.add("bad", "/sd/bad.kmodel")
    m.add("gone", "/sd/gone.kmodel")
    for name, kind in (("bad", KModelError), ("gone", OSError)):
        with pytest.raises(kind):
            m.use(name)
    assert m.use(0).raw is not None


@pytest.mark.parametrize("error", [OSError(5), MemoryError("no"), KeyboardInterrupt()])
def test_every_fault_point_of_a_switch(canmv, error):
    maix, board = canmv
    points = 0
    for k in range(1, 100):
        board.reset("minimum", files={f"/sd/{i}.kmodel": model(n) for i, n in enumerate(SIZES)})
        maix.slots.clear()
        live = board.heap.live()
        m = manager()
        m.use(0)
        board.faults.clear()
        board.faults.fail(k, error)
        try:
            m.use(1)
        except BaseException as e:
            assert isinstance(e, (OSError, MemoryError, KModelError, KeyboardInterrupt))
        points += board.faults.count >= k
        reached = board.faults.count >= k
        board.faults.clear()
        m.use(1)
        m.release_all()
        assert board.heap.live() == live and maix.slots.taken == [None] * 8, k
        if not reached:
            break
    assert points >= 4, points


def test_images_and_gc_heap(canmv):
    maix, board = canmv
    from maixmem_pool import ImagePool

    pool = ImagePool(32, 24, count=1, ai=True)
    src = maixmem.port().new_image(32, 24)
    src.set_pixel(1, 1, (255, 255, 255))
    assert pool.take(src).get_pixel(1, 1) == (255, 255, 255)
    assert "machine.reset()" in maixmem.set_gc_heap(262144)
    assert maix.utils.gc_heap_size() == 262144
