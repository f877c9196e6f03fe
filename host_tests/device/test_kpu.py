# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem_kpu in the place of KPU, on the K210 stand-in: the shapes of its calls, turns, and what
is said to those who call kpu.load()."""

import sys

import image
import k210_board as board
import KPU as bare
import maixmem
import maixmem_k210
import maixmem_report
from devtest import SLOW, imports_of, raises
from kmodel_build import v3
from maixmem import KModelError, NoRoom
from maixmem_models import ModelManager

NEEDS = ("shim",)
HEAP = "2m"
import maixmem_kpu as kpu  # noqa: E402 - after maixmem_report

PARTS = ("maixmem_kpu_load", "maixmem_kpu_setup", "maixmem_kpu_room")
A, B, C, NONE = 0x300000, 0x600000, 0xA00000, 0xC00000


def model(kib):
    """A V3 model whose body is about `kib` KiB."""
    return v3((8, 8, 1), [("conv", 4), ("raw", 2, kib * 1024)], main_mem=4096)


_STATE = "port keep margin state switches base models _tick _loads busy".split()


def renew(manager):
    """Gives the manager of maixmem_kpu the state of a new one: modules hold it by its name."""
    new = kpu._Manager(keep=5)
    for name in _STATE:
        setattr(manager, name, getattr(new, name))
    for name in ("text", "sensor"):  # what the parts of maixmem_kpu note in it
        if hasattr(manager, name):
            delattr(manager, name)
    ModelManager._last = manager
    if sys.implementation.name == "cpython":
        assert sorted(vars(manager)) == sorted(_STATE), "it has more state than this knows"


def start(build="full", kib=(1200, 1300, 300)):
    """A board with three models, and maixmem_kpu as it is after its import."""
    kpu._m.release_all()
    board.reset(build, flash={A: model(kib[0]), B: model(kib[1]), C: model(kib[2])})
    maixmem.set_port(None)
    renew(kpu._m)
    return kpu


def picture():
    img = image.Image(size=(8, 8)).to_grayscale()
    img.pix_to_ai()
    return img


def live():
    """How many models the board has."""
    return len(board.nets())


# --- shapes ---


def test_it_has_every_name_of_the_firmware():
    start()
    for name in dir(bare):
        if name[:1] != "_":
            assert hasattr(kpu, name), name


def test_what_is_no_source_is_refused_in_the_firmware_s_words():
    start()
    for source in (None, True, 0, "", 1.5, b"x", [], (1, 2)):
        kind = text = None
        try:
            bare.load(source)
        except (TypeError, ValueError) as e:
            kind, text = type(e), str(e)
        assert str(raises(kind, kpu.load, source)) == text, source
    if not SLOW:  # its open() gives None for a file that is not there
        kind = text = None
        try:
            bare.load("/sd/none.kmodel")
        except (ValueError, OSError) as e:
            kind, text = type(e), str(e)
        assert str(raises(kind, kpu.load, "/sd/none.kmodel")) == text
    assert str(raises(KModelError, kpu.load, NONE)).startswith("kpu.load(" + hex(NONE) + "): ")
    assert live() == 0


def test_what_is_no_fmap_goes_to_the_firmware():
    start()
    for module in bare, kpu:
        raises(TypeError, module.fmap)
        raises(ValueError, module.fmap, 5, 1)
        raises(TypeError, module.fmap_free)
        assert module.fmap_free(5) is None


def test_a_net_prints_answers_and_ends_as_the_firmware_s():
    start()
    net = kpu.load(C)
    assert str(net) == repr(net) and "model_addr" in str(net)
    assert net.model_addr() == C and net.model_size() > 300 << 10
    assert raises(AttributeError, getattr, net, "legs")
    raises(TypeError, kpu.forward, 5, picture())
    raises(ValueError, kpu.forward, net, "no image")  # as the firmware of what is none
    raises(TypeError, iter, kpu.forward(net, picture()))
    assert kpu.deinit(net) is True and kpu.deinit(net) is True and live() == 0
    assert "deinit" in str(raises(ValueError, kpu.forward, net, picture()))
    raises(TypeError, kpu.deinit, 5)


def test_a_result_answers_as_the_firmware_s():
    start()
    net = kpu.load(C)
    made = kpu.forward(net, picture())
    values = made[:]
    assert len(values) == made.size() // 4 and made[0] == values[0] and made.index() >= 0
    assert kpu.forward(net, picture())[:] == values
    assert kpu.get_output(net, 0)[:] == values
    text = str(raises(ValueError, bare.fmap, bare.forward(bare.load(C), picture()), 0))
    assert str(raises(ValueError, kpu.fmap, made, 0)) == text, "only int8 ones, there as here"
    assert kpu.netinfo(net) is not None
    kpu.fmap_free(made)


# --- turns ---


def test_models_take_turns_and_come_back_as_they_were():
    start()
    a, b = kpu.load(A), kpu.load(B)
    assert live() <= 1, "the second waits for its first use"
    assert kpu.init_yolo2(a, 0.5, 0.3, 1, (1.0, 1.0)) is True
    first = kpu.forward(a, picture())
    values = first[:]
    for _ in range(4):
        kpu.forward(b, picture())
        assert live() == 1 and a.handle is None
        assert kpu.forward(a, picture())[:] == values
        assert live() == 1 and a.handle.net_arg() is not None, "init_yolo2 was said again"
    assert kpu.deinit(a) and kpu.deinit(b) and live() == 0 and board.kpu_live() == 0


def test_a_turn_looks_ahead_by_sums():
    """A walk through the whole heap, to know what a model gives back, takes 36 ms on the board."""
    start()
    nets = kpu.load(A), kpu.load(B)
    for net in nets + nets:
        kpu.forward(net, picture())
    asked = []
    plain = kpu._m.port.check_fit

    def check_fit(cost, margin=0, freed=()):
        asked.append(len(freed))
        return plain(cost, margin, freed)

    kpu._m.port.check_fit = check_fit
    try:
        for net in nets:
            kpu.forward(net, picture())
    finally:
        kpu._m.port.check_fit = plain
    assert asked == [0, 0] and live() == 1, asked


def test_a_result_outlives_its_model():
    start()
    a, b = kpu.load(A), kpu.load(B)
    made = kpu.forward(a, picture())
    values = made[:]
    kpu.forward(b, picture())
    assert a.handle is None and made[:] == values and made[0] == values[0]


def test_the_results_of_a_model_are_one_an_output():
    """One a call would fill the GC heap of a program that asks in each frame."""
    start()
    a, b = kpu.load(A), kpu.load(B)
    made = kpu.forward(a, picture())
    values = made[:]
    for _ in range(3):
        assert kpu.get_output(a, 0) is made and len(a.results) == 1
    for _ in range(2):  # the values stay when the model goes again without having run
        kpu.forward(b, picture())
        assert a.handle is None and made[:] == values and type(made[:]) is tuple
        assert a.model_size() and b.handle is None
    assert kpu.forward(a, picture()) is made and made[:] == values


def test_those_that_fit_stay():
    start("minimum")
    a, b, c = kpu.load(A), kpu.load(B), kpu.load(C)
    for net in (a, b, c):
        kpu.forward(net, picture())
    assert live() == 3


def test_what_never_fits_is_refused_by_load_in_its_own_words():
    start(kib=(2600, 1300, 300))
    text = str(raises(NoRoom, kpu.load, A))
    assert text.startswith("kpu.load(" + hex(A) + ")") and "use(" not in text, text
    assert live() == 0
    kpu.forward(kpu.load(B), picture())


def test_the_same_source_again_takes_over():
    start()
    for _ in range(8):
        net = kpu.load(C)
        kpu.forward(net, picture())
    assert live() == 1


def test_a_net_that_was_replaced_and_used_again_is_freed_by_deinit():
    start()
    a = kpu.load(A)
    assert a.model_addr() == A
    b = kpu.load(A)
    assert b.model_addr() == A and a.handle is None
    assert a.model_addr() == A and a.handle is not None
    assert kpu.deinit(a) is True and a.handle is None
    assert kpu.deinit(b) is True and live() == 0


def test_a_classifier_keeps_its_model():
    start()
    a = kpu.load(A)
    made = kpu.classifier(a, 2, 4)
    assert made.add_class_img(picture()) == 0
    b = kpu.load(C)
    kpu.forward(b, picture())
    assert a.handle is not None
    error = raises(NoRoom, kpu.load, B)
    assert error.args[-1].steps[0] == "kpu.deinit() another model" and "release()" not in str(
        error
    )
    assert made.add_class_img(picture()) == 1


def test_other_yolo_values_load_the_model_anew_and_leak_nothing():
    start()
    a = kpu.load(C)
    kpu.init_yolo2(a, 0.5, 0.3, 1, (1.0, 1.0))
    taken = board.kpu_live()
    for i in range(5):
        assert kpu.init_yolo2(a, 0.5 + i / 16, 0.3, 1, (1.0, 1.0))
    assert live() == 1 and board.kpu_live() == taken
    raises(ValueError, kpu.init_yolo2, a, 5, 0.3, 1, (1.0, 1.0))
    raises(ValueError, kpu.run_yolo2, kpu.load(A), picture())


def test_a_model_of_too_few_values_is_none_of_yolo_s():
    """The firmware reads on behind its output: ValueError or a hang, as the C stack lies."""
    start()
    for fits in (False, True):
        a = kpu.load(C)
        values = kpu.get_output(a, 0).size() // 4
        anchors = values // 6 if fits else values // 6 + 1
        assert kpu.init_yolo2(a, 0.5, 0.3, anchors, (1.0,) * 2 * anchors) is True
        if fits:
            kpu.run_yolo2(a, picture())
        else:
            assert "fewer than 6" in str(raises(ValueError, kpu.run_yolo2, a, picture()))
        kpu.deinit(a)
    assert "not called" in str(raises(ValueError, kpu.run_yolo2, kpu.load(C), picture()))


# --- what runs once ---


def without(part):
    """maixmem.run_once as it is where there is no GC heap for the parts whose names start so; call
    what it returns to end that, which gives the parts that were wanted."""
    plain = maixmem.run_once
    asked = []

    def run_once(name, function, *args):
        asked.append(name)
        if name.startswith(part):
            raise MemoryError("no GC heap for it")
        return plain(name, function, *args)

    def end():
        maixmem.run_once = plain
        return asked

    maixmem.run_once = run_once
    return end


def test_what_comes_before_a_run_goes_again_and_a_turn_needs_no_part():
    start()
    before = [x in sys.modules for x in PARTS]  # where a runner brings everything
    nets = kpu.load(A), kpu.load(B)
    assert kpu.init_yolo2(nets[0], 0.5, 0.3, 1, (1.0, 1.0)) is True
    for net in nets:
        kpu.forward(net, picture())
    assert [x in sys.modules for x in PARTS] == before
    end = without("kpu_")
    try:
        for net in nets + nets:
            kpu.forward(net, picture())
            assert live() == 1
    finally:
        assert not [x for x in end() if x.startswith("kpu_")]


def test_init_yolo2_brings_no_other_part():
    start()
    a = kpu.load(C)
    assert a.model_addr() == C
    brought = imports_of(lambda: kpu.init_yolo2(a, 0.5, 0.3, 1, (1.0, 1.0)))
    guard = ["maixmem_k210_mend"]  # stays: it frees models of YOLO
    if maixmem_k210._thread:  # its stack: by the header of the model
        guard += ["maixmem_k210_boxes", "maixmem_k210_cells", "maixmem_kmodel"]
    assert [x for x in brought if x not in guard] == ["maixmem_kpu_setup"], brought


def test_a_load_without_room_for_its_part_is_the_firmware_s():
    start()
    end = without("kpu_")
    try:
        net = kpu.load(C)
    finally:
        end()
    assert net.model_addr() == C and kpu.forward(net, picture())[:] and live() == 1
    assert kpu.deinit(net) is True and live() == 0


def test_the_table_of_ports_asks_for_the_same_calls():
    row = [r for r in maixmem_report.PORTS.split() if r.endswith(":k210")]
    assert row == ["*:Maix/heap_free/flash_read/gc_heap_size:k210"], "as maixmem_kpu does"


# --- buffers first ---


def test_models_go_before_a_buffer_that_leaves_them_room():
    start()
    a = kpu.load(C)
    kpu.forward(a, picture())
    maixmem.run_once("kpu_room", "room", 400000)
    assert a.handle is None, "it comes back above the buffer"
    kpu.forward(a, picture())
    assert live() == 1


def test_a_model_that_fits_only_first_stays_or_is_loaded_first():
    """Loading takes 262274 bytes more than the model keeps: after the buffer there is no room for
    them."""
    start()
    a = kpu.load(A)
    free = maixmem.port().free_bytes()
    maixmem.run_once("kpu_room", "room", free - a.cost.need["heap"] - 8192)
    assert a.handle is not None
    maixmem.run_once("kpu_room", "room", 100000000)
    assert a.handle is None, "the firmware would have no room at all"


def test_models_go_before_a_camera_that_has_room_in_pieces_only():
    """With two models before it on lvgl set_framesize() raised ENOMEM."""
    import sensor

    start()
    a = kpu.load(C)
    kpu.forward(a, picture())
    p = maixmem.port()
    taken = [board.heap.malloc(140000) for _ in range((p.free_bytes() - 60000) // 140000)]
    taken = taken[:6]  # a model would not come back beside the camera
    for block in taken[::2]:
        board.heap.free(block)
    assert 700000 > p.free_bytes() > 400000 and p.largest < 200000, (p.free_bytes(), p.largest)
    sensor.reset()
    later = kpu._later("set_framesize", sensor.set_framesize)
    kpu._m.sensor = (1, None)
    try:
        later(sensor.QVGA)
    finally:
        for block in taken[1::2]:
            board.heap.free(block)
    assert a.handle is None


def test_without_room_to_read_a_part_models_go_before_it_is_read():
    """The firmware would hang: reading from flash takes 16514 bytes of the system heap."""
    start()
    a = kpu.load(C)
    kpu.forward(a, picture())
    block = board.heap.malloc(maixmem.port().free_bytes() - 16600)
    found = []
    plain = maixmem.run_once

    def note(*what):
        found.append(maixmem.port().free_bytes())
        return plain(*what)

    maixmem.run_once = note
    try:
        kpu._later("init", dict)()
    finally:
        maixmem.run_once = plain
    assert found[0] > 300000 and a.handle is None
    board.heap.free(block)
    kpu.forward(a, picture())
    assert live() == 1, "it comes back"


def test_what_cannot_be_judged_is_tried_as_the_firmware_would():
    start()
    kpu.forward(kpu.load(C), picture())
    plain = kpu._m.port.inspect

    def no_memory(source, **how):
        raise MemoryError("no GC heap for it")

    kpu._m.port.inspect = no_memory
    try:
        b = kpu.load(B)
    finally:
        kpu._m.port.inspect = plain
    assert b.handle is not None and live() == 1, "with all others out of its way"
    assert kpu.forward(b, picture())[:]
    kpu.forward(kpu.load(A), picture())
    kpu.forward(b, picture())
    assert live() == 1
