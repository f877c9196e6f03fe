# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The model manager on the K210 stand-in: turns, eviction, room, guards, failures."""

import gc
import sys

import image
import k210_board as board
import KPU as kpu
import manager_kit as kit
from devtest import DESK, SLOW, Skip, imports_of, raises
from kmodel_build import swapped, v3, v4
from Maix import utils
from maixmem import KModelError, NoRoom
from maixmem_k210_cause import has_v4
from maixmem_k210_gc import active_gc_heap
from maixmem_k210_kpu import Port
from maixmem_models import ModelManager, ModelReleasedError

NEEDS = ("shim",)
HEAP = "2m"

ANCHORS = (1.0, 1.0, 2.0, 2.0)


def tidy():
    """Collects where nothing else does."""
    if SLOW:
        gc.collect()


def model(kib, main_mem=12544):
    """A V3 model whose body is about `kib` KiB."""
    return v3((28, 28, 1), [("conv", 16), ("raw", 2, kib * 1024)], main_mem=main_mem)


class Rig:
    share = "evict"
    faults = board.faults
    models = [
        (0x300000, {}),
        ("/flash/b.kmodel", {}),
        (0x400000, {}),
        (0x500000, {"stream": (0, 8, 80000000)}),
    ]

    refusal = ("load: slot", ValueError("[MAIXPY]kpu: load error:2006, ERR_NO_MEM: no memory"))
    other = 0  # a block of somebody else's

    def start(self):
        flash = {0x300000: model(300), 0x400000: model(100), 0x500000: swapped(model(200))}
        board.reset("minimum", flash=flash, files={"/flash/b.kmodel": model(150)})
        self.other = 0
        return Port()

    def fill(self, left):
        heap = board.heap
        heap.free(self.other)
        self.other = heap.malloc(max(1, heap.limit - heap.top - left))

    def live(self):
        other = board.heap.asked(self.other) if self.other else 0
        rest = board.heap.live() - other
        assert board.kpu_live() == rest, (board.kpu_live(), rest)
        return rest


def test_what_every_port_does():
    for check in kit.CHECKS:
        tidy()
        try:
            if check is kit.check_many_switches and sys.implementation.name != "cpython":
                check(
                    Rig(), 5
                )  # each is alike; test_switches_leave_the_gc_heap_as_it_was has more
            else:
                check(Rig())
        except AssertionError as e:
            raise AssertionError("{}: {}".format(check.__name__, e))


def big(firmware="minimum", keep=1, **flash):
    """A manager for models by name, at 0x300000 and every MiB from there."""
    at = 0x300000
    places = {}
    content = {}
    for name in sorted(flash):
        places[name] = at
        content[at] = flash[name]
        at += (flash[name].size + 0xFFFFF) & ~0xFFFFF
    board.reset(firmware, flash=content)
    m = ModelManager(Port(), keep=keep)
    for name in sorted(flash):
        m.add(name, places[name])
    return m


# --- room ---


def outcome(f, *args):
    """ "ok", "no" (a clean refusal) or "hang"."""
    try:
        f(*args)
    except board.DeviceCrash:
        return "hang"
    except (NoRoom, ValueError) as e:
        assert isinstance(e, NoRoom) or "2006" in str(e), e
        return "no"
    return "ok"


def threshold(content, path, firmware="full"):
    """Plain load and use() on fresh boards around the least room: [(heap_free, plain,
    managed)]."""
    source = "/flash/m.kmodel" if path else 0x300000
    rows = []
    board.reset(firmware, flash={0x300000: content}, files={"/flash/m.kmodel": content})
    cost = Port().inspect(source)
    spare = utils.heap_free() + 524288 - cost.peak["heap"]  # GC heap that leaves just the peak
    for step in range(-12, 12, 1 if DESK else 7 if SLOW else 3):
        both = []
        for managed in (False, True):
            gc_heap = spare + 4096 * step
            tidy()
            board.reset(firmware, gc_heap, {0x300000: content}, {"/flash/m.kmodel": content})
            free = utils.heap_free()
            if managed:
                m = ModelManager(Port())
                m.add("m", source)
                both.append(outcome(m.use, "m"))
            else:
                both.append(outcome(kpu.load, source))
        rows.append((free, both[0], both[1]))
    return sorted(rows)


def check_threshold(rows):
    assert rows[0][1] != "ok" and rows[-1][1] == "ok", rows
    least = [free for free, plain, _ in rows if plain == "ok"][0]
    for free, plain, managed in rows:
        assert managed != "hang", rows
        assert managed == "ok" or free < least + 8192, (least, rows)


def test_the_least_room_of_a_v3_model():
    for kib in (100, 700):
        rows = threshold(model(kib), False)
        check_threshold(rows)
        assert "hang" in [plain for _, plain, _ in rows]


def test_the_least_room_of_a_v3_file():
    for kib, main_mem in ((250, 14112), (700, 188160)):
        check_threshold(threshold(model(kib, main_mem), True))


def test_the_least_room_of_a_v4_model():
    content = v4((224, 224, 3), [("conv", 16)], main_mem=900000)
    for path in (False, True):
        rows = threshold(content, path)
        check_threshold(rows)
        assert "hang" in [plain for _, plain, _ in rows]


def test_a_model_goes_back_into_the_hole_that_it_left():
    m = big("minimum", keep=2, a=model(1850), b=model(350), c=model(2000))
    m.use("a")
    m.use("b")
    m.release("a")
    free = utils.heap_free()
    assert m.port.check_fit(m.port.inspect(0x300000), 4096) is None
    m.use("a")
    assert free - utils.heap_free() < 100000  # it is in the hole
    assert [x.name for x in m.models.values() if x.ready] == ["a", "b"] or m.use("b")
    board.alive()


def test_a_hole_is_not_trusted_where_that_could_hang():
    m = big("lvgl", keep=3, a=model(500), b=model(900), c=model(520))
    m.use("a")
    m.use("b")
    m.release("a")
    free = utils.heap_free()
    board.heap.malloc(384000)  # a camera buffer goes into the hole; heap_free() does not tell
    assert utils.heap_free() == free
    outcomes = [outcome(m.use, "a"), outcome(m.use, "c")]
    assert "hang" not in outcomes, outcomes
    board.alive()


def test_a_camera_above_the_model_does_not_stop_it():
    m = big("full", a=model(1200), b=model(1100))
    m.use("a")
    board.heap.malloc(384000)
    for name in "baba":
        m.use(name)
        assert m.state == "loaded"


def test_no_room_is_said_before_anything_goes():
    m = big("full", a=model(300), b=model(2300))
    net = m.use("a")
    raw = net.raw
    e = raises(NoRoom, m.use, "b")
    assert e.region == "heap" and e.need > e.free > 0 and m.state == "rolled_back"
    assert "'b'" in str(e) and str(e.need) in str(e) and "Next:" in str(e), e
    assert net.raw is raw
    assert m.switches == 1


def test_the_cure_names_a_gc_heap_that_makes_room():
    m = big("full", b=model(2200))
    e = raises(NoRoom, m.use, "b")
    text = str(e)
    at = text.index("set_gc_heap(") + 12
    size = int(text[at : text.index(")", at)])
    smaller = active_gc_heap() - size
    short = e.need - utils.heap_free()
    assert short <= smaller < short + 4096 and e.free > utils.heap_free()
    board.reset("full", 524288 - smaller, {0x300000: model(2200)})
    m = ModelManager(Port())
    m.add("b", 0x300000)
    m.use("b")


def test_the_sentence_of_an_error_leaves_no_module():
    m = big("full", b=model(2200))
    before = set(sys.modules)
    raises(NoRoom, m.use, "b")
    raises(KeyError, m.use, "c")
    assert set(sys.modules) - before == set()


def test_the_cure_names_the_file():
    m = big("full", b=model(2200))
    assert "from a file on /sd or /flash" in str(raises(NoRoom, m.use, "b"))


def test_a_fallback_is_taken_when_there_is_no_room():
    content = model(2200)
    board.reset(
        "full",
        flash={
            0x300000: content,
            0x800000: swapped(v3((28, 28, 1), [("conv", 16)] + [("raw", 2, 9000)] * 99)),
        },
    )
    m = ModelManager(Port())
    m.add("slow", 0x800000, stream=(0, 8, 80000000))
    m.add("fast", 0x300000, fallback="slow")
    net = m.use("fast")
    assert net.name == "slow" and net.raw is not None
    assert m.use("fast") is net


def test_what_can_never_run_is_refused_first():
    m = big("minimum", a=model(100), b=v4((28, 28, 1), [("conv", 16)]))
    raw = m.use("a").raw
    e = raises(ValueError, m.use, "b")
    assert "V4" in str(e) and m.state == "rolled_back" and m.use("a").raw is raw
    m = big("full", a=model(100), b=v4((28, 28, 1), [("conv", 16)]))
    m.use("a")
    m.use("b")
    m.add("c", 0x900000)
    raises(ValueError, m.use, "c")
    assert m.state == "rolled_back" and m.use("b").raw is not None and m.state == "loaded"


def test_asking_the_build_for_v4_leaves_nothing():
    for firmware, answer in (
        ("minimum", False),
        ("openmv_v4", True),
        ("full", True),
        ("lvgl", False),
    ):
        board.reset(firmware)
        free = utils.heap_free()
        assert has_v4(Port()) is answer
        gc.collect()
        assert utils.heap_free() == free and board.heap.live() == 0 and not board.nets()


# --- slots and models of an earlier run ---


def test_models_that_nobody_holds_are_collected():
    m = big("minimum", a=model(100))
    for i in range(5):
        kpu.load(0x300000)  # the results are lost at once, or at the next collection
    if sys.implementation.name == "micropython" and sys.implementation.version < (1, 11):
        raise Skip("this interpreter has no finalisers")
    m.use("a")
    assert m.state == "loaded"


def test_models_that_somebody_holds():
    m = big("minimum", a=model(100))
    nets = [kpu.load(0x300000) for i in range(5)]
    e = raises(NoRoom, m.use, "a")
    assert e.code == 2009 and e.region == "slots" and m.state == "rolled_back"
    assert "2009" in str(e), e
    kpu.deinit(nets[0])
    m.use("a")


# --- nets ---


def test_guards():
    m = big("minimum", a=model(100), b=model(100))
    net = m.use("a")
    img = image.Image(size=(28, 28))
    for wrong in (1, "x", None, b"x"):
        assert "'a'" in str(raises(TypeError, net.forward, wrong))
        raises(TypeError, net.run, wrong)
    assert "init_yolo2" in str(raises(ValueError, net.run_yolo2, img))
    net.init_yolo2(0.5, 0.3, 2, ANCHORS)
    assert "release" in str(raises(ValueError, net.init_yolo2, 0.5, 0.3, 2, ANCHORS))
    raises(TypeError, net.run_yolo2, "x")
    raises(RuntimeError, net.set_outputs, 0, 1, 1, 10)
    m.use("b")
    for call in (
        lambda: net.forward(img),
        lambda: net.run_yolo2(img),
        lambda: net.get_output(0),
        lambda: net.set_outputs(0, 1, 1, 1),
        lambda: net.init_yolo2(0.5, 0.3, 2, ANCHORS),
    ):
        raises(ModelReleasedError, call)
    net = m.use("a")
    raises(ValueError, net.run_yolo2, img)  # loaded again: no init yet
    kpu.init_yolo2(net.raw, 0.5, 0.3, 2, ANCHORS)
    raises(ValueError, net.init_yolo2, 0.5, 0.3, 2, ANCHORS)


def test_a_use_that_succeeds_imports_nothing():
    m = big("minimum", a=model(100), b=model(100))
    m.add("yolo", 0x400000, setup=lambda net: net.init_yolo2(0.5, 0.3, 2, ANCHORS))
    for name in ("a", "b", "yolo", "a", "yolo"):
        assert imports_of(lambda: m.use(name)) == [], name
    assert imports_of(lambda: m.status(str)) == ["maixmem_status"]  # that it does look


def test_the_place_in_flash_is_looked_at():
    small = model(100)
    board.reset("full", flash={0x300000: small, 0x310000: small})
    port = Port()
    assert port.inspect(0x300000).warning is None
    assert "overlaps" in port.inspect(0x310000).warning
    raises(KModelError, port.inspect, 0x900000)  # nothing there, and nobody's place
    board.reset("full", files={"/flash/x.kmodel": small})
    board.flash.burn(0x200000, small)  # after the boot: with it the board would not start
    assert "firmware" in Port().inspect(0x200000).warning
    assert Port().inspect("/flash/x.kmodel").warning is None


def test_leaks_are_seen():
    m = big("minimum", a=model(100), b=model(200))
    m.use("a")
    m.use("b")
    lost = kpu.load(0x300000)
    gone = m.status(lambda line: None)["unaccounted"]["heap"]
    assert 110000 < gone < 130000, gone
    kpu.deinit(lost)
    assert m.status(lambda line: None)["unaccounted"]["heap"] < 8192


def test_switches_leave_the_gc_heap_as_it_was():
    if not hasattr(gc, "mem_alloc") or sys.implementation.version < (1, 11):
        raise Skip("this interpreter cannot tell")
    m = big("minimum", a=model(50), b=model(60), c=model(70), d=model(80), e=model(90))
    rounds = 2000 if DESK else 260  # times five: 10,000 switches
    settled = 200
    used = [0] * 3  # after the first rounds; the least and the most from then on
    free, largest = [0] * 3, [0] * 3
    for i in range(rounds):
        for name in "abcde":
            m.use(name)
        gc.collect()
        m.port.free_bytes()
        now = (gc.mem_alloc(), utils.heap_free(), m.port.largest)
        for k, row in ((0, used), (1, free), (2, largest)):
            if i < settled:
                row[0] = row[1] = row[2] = now[k]
            row[1] = min(row[1], now[k])
            row[2] = max(row[2], now[k])
    assert m.switches == 5 * rounds
    assert used[2] - used[1] <= 64, used  # two blocks of the collector
    assert free[1] == free[2] and largest[1] == largest[2], (free, largest)


def test_a_format_of_later_compilers_is_refused_in_words():
    for second in (0, 32):  # the two dialects of V5: one hangs the firmware from a file
        head = b"LDMK" + bytes((5, 0, 0, 0, second)) + bytes(4000)
        board.reset("full", flash={0x300000: head}, files={"/sd/a.kmodel": head})
        models = ModelManager(Port())
        for source in (0x300000, "/sd/a.kmodel"):
            models.add(source, source)
            e = raises(ValueError, models.use, source)
            assert "v5" in str(e) and "nncase" in str(e), e
        assert board.kpu_live() == 0


def test_nothing_at_an_address_is_said():
    board.reset("full")
    models = ModelManager(Port())
    models.add("blank", 0x400000)
    e = raises(ValueError, models.use, "blank")
    assert "resident now: none" in str(e), e
