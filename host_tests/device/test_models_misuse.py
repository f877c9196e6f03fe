# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What users do to the model manager on the K210 stand-in: second runs, odd setups, fallbacks,
wrong sources."""

import k210_board as board
import KPU as kpu
from devtest import SLOW, Skip, raises
from kmodel_build import swapped, v3, v4
from Maix import utils
from maixmem_k210_cause import has_v4
from maixmem_k210_kpu import Port
from maixmem_models import ModelManager

NEEDS = ("shim",)

A, B, C = 0x300000, 0x600000, 0x700000
STREAM = (0, 8, 80000000)


def model(kib):
    """A V3 model whose body is about `kib` KiB."""
    return v3((28, 28, 1), [("conv", 16), ("raw", 2, kib * 1024)], main_mem=12544)


def resident(m):
    return [x.name for x in m.models.values() if x.ready]


# --- the same program again ---


def test_a_second_run_gets_the_memory_of_the_first():
    board.reset("full", flash={A: model(1500), B: model(1400)})
    port = Port()

    def program():
        m = ModelManager(port)
        m.add("big", A)
        m.add("other", B)
        return m, m.use("big")

    _, kept = program()  # a global of the run before still holds its net
    for _ in range(3):
        m, net = program()
        assert net.raw is not None and len(board.nets()) == 1
        m.use("other")
        assert len(board.nets()) == 1
    assert "use('big')" in str(raises(ValueError, kept.require_handle))


def test_v4_is_asked_again_when_all_slots_were_taken():
    tiny = v3((28, 28, 1), [("conv", 16)], main_mem=12544)
    board.reset("openmv_v4", flash={A: tiny, B: v4((28, 28, 1), [("conv", 16)])})
    nets = [kpu.load(A) for _ in range(5)]
    port = Port()
    assert has_v4(port) is None
    while nets:
        kpu.deinit(nets.pop())
    assert has_v4(port) is True and port.inspect(B).refuse is None


# --- setups ---


def test_a_setup_that_uses_or_releases_is_refused():
    board.reset("full", flash={A: model(50), B: model(60)})
    m = ModelManager(Port())
    for what in (lambda net: m.use("b"), lambda net: m.release("a"), lambda net: m.release_all()):
        m = ModelManager(Port())
        m.add("a", A, setup=what)
        m.add("b", B)
        e = raises(RuntimeError, m.use, "a")
        assert "'a' is being loaded or freed: " in str(e), e
        assert "a" not in resident(m) and len(board.nets()) == len(resident(m)) <= 1
        assert m.use("b").raw is not None and resident(m) == ["b"]
        m.release_all()
        assert board.kpu_live() == 0


def test_a_setup_that_uses_its_own_model_is_told_so():
    board.reset("full", flash={A: model(50)})
    for keep in (1, 2):
        m = ModelManager(Port(), keep=keep)
        m.add("a", A, setup=lambda net: m.use("a"))
        for _ in range(2):  # and the next use() is told the same, not that something is left over
            e = raises(RuntimeError, m.use, "a")
            assert "'a' is being loaded or freed: use() in the main loop" in str(e), e
            assert m.state != "loaded" and not board.nets() and board.kpu_live() == 0
        m.models["a"].setup = None
        assert m.use("a").raw is not None and m.state == "loaded"
        m.release_all()


# --- timer callbacks: they run between two bytecodes of the same thread ---


def test_a_callback_in_the_middle_of_a_load_changes_nothing():
    board.reset("full", flash={A: model(50), B: model(60), C: model(70)})
    port = Port()
    m = ModelManager(port, keep=2)
    for name, at in (("a", A), ("b", B), ("c", C)):
        m.add(name, at)
    said = []

    def interrupted(call):
        def done(*args, **how):
            before = resident(m)
            for inside in (lambda: m.use("b"), lambda: m.release("a"), lambda: m.forget("a")):
                said.append(str(raises(RuntimeError, inside)))
            if before:
                m.use(before[0])  # a resident model is handed out all the same
            assert resident(m) == before
            return call(*args, **how)

        return done

    m.use("a")
    port.load = interrupted(port.load)
    assert m.use("c").raw is not None and resident(m) == ["a", "c"]
    assert len(said) == 3
    for text in said:
        assert text == "'c' is being loaded or freed: use() in the main loop", text
    del port.load
    port.unload = interrupted(port.unload)
    m.release("c")
    assert len(said) == 6 and resident(m) == ["a"] and len(board.nets()) == 1
    del port.unload
    m.models["b"].setup = lambda net: said.append(str(raises(RuntimeError, m.use, "c")))
    assert m.use("b").raw is not None and resident(m) == ["a", "b"]
    assert "'b' is being loaded or freed" in said[-1], said[-1]
    m.release_all()
    assert board.kpu_live() == 0 and m.busy is None


def test_a_load_that_was_stopped_leaves_nobody_busy():
    board.reset("full", flash={A: model(50), B: model(60)})
    port = Port()
    m = ModelManager(port)
    m.add("a", A)
    m.add("b", B)
    m.use("a")

    def stopped(*args, **how):
        raise KeyboardInterrupt

    port.load = stopped
    raises(KeyboardInterrupt, m.use, "b")
    del port.load
    assert m.busy is None and m.use("b").raw is not None
    m.release_all()
    assert board.kpu_live() == 0


def test_a_net_that_was_deinited_by_hand_is_loaded_again():
    board.reset("full", flash={A: model(50)})
    m = ModelManager(Port())
    m.add("a", A)
    net = m.use("a")
    kpu.deinit(net.raw)
    assert board.kpu_live() == 0
    assert m.use("a") is net and m.switches == 2 and len(board.nets()) == 1
    assert m.use("a") is net and m.switches == 2  # the new one is fine
    kpu.get_output(net.raw, 0)
    kpu.deinit(net.raw)
    m.release("a")  # harmless, as deinit() is
    assert board.kpu_live() == 0 and board.heap.live() == 0


# --- fallbacks ---


def with_fallback():
    board.reset("full", flash={A: model(2300), B: swapped(model(100)), C: model(100)})
    m = ModelManager(Port())
    m.add("small", B, stream=STREAM)
    m.add("big", A, fallback="small")
    m.add("other", C)
    return m


def test_using_holds_the_fallback():
    m = with_fallback()
    with m.using("big") as net:
        assert net.name == "small"
        e = raises(MemoryError, m.use, "other")
        assert "with block" in str(e) and net.raw is not None
    assert m.use("other").raw is not None and resident(m) == ["other"]


def test_a_kept_using_asks_for_its_model_each_time():
    board.reset("full", flash={A: model(1500), B: swapped(model(100))})
    filler = board.heap.malloc(1200000)
    m = ModelManager(Port())
    m.add("small", B, stream=STREAM)
    m.add("big", A, fallback="small")
    holder = m.using("big")
    with holder as net:
        assert net.name == "small"
    board.heap.free(filler)
    m.release_all()
    with holder as net:
        assert net.name == "big"
    assert [x.pin_count for x in m.models.values()] == [0, 0]


def test_a_fallback_stays_warm_until_it_goes():
    m = with_fallback()
    net = m.use("big")
    asked = []
    m.port.check_fit = lambda *a: asked.append(a)
    assert m.use("big") is net and m.state == "loaded" and not asked
    del m.port.check_fit
    m.release("small")
    assert m.use("big") is net and m.switches == 2


def test_a_fallback_cannot_be_forgotten():
    m = with_fallback()
    assert "fallback of 'big'" in str(raises(ValueError, m.forget, "small"))
    m.forget("big")
    m.forget("small")


# --- sources ---


def test_wrong_addresses_are_told_when_they_are_added():
    board.reset("full", flash={A: model(50)})
    m = ModelManager(Port())
    for wrong in (-5, 1 << 24, 1 << 40):
        e = raises(ValueError, m.add, "x", wrong)
        assert str(wrong) in str(e) and "0xffffff" in str(e) and "Next:" in str(e), e
    for wrong in (None, 3.5, True, b"/sd/m.kmodel", [A]):
        e = raises(TypeError, m.add, "x", wrong)
        assert repr(wrong) in str(e) and "Next:" in str(e), e
    assert not m.models  # nothing of them is left
    m.add("x", A)
    assert m.use("x").raw is not None


def test_a_path_that_the_firmware_does_not_take_is_refused_first():
    files = {"/flash/m.bin": model(60), "/sd/M.KMODEL": model(10)}
    board.reset("full", flash={A: model(100)}, files=files)
    m = ModelManager(Port())
    m.add("a", A)
    raw = m.use("a").raw
    for path in sorted(files):
        m.add(path, path)
        e = raises(ValueError, m.use, path)
        assert ".kmodel" in str(e) and "Next: rename" in str(e) and m.state == "rolled_back", e
    assert m.use("a").raw is raw


def test_a_stream_is_three_ints():
    board.reset("full", flash={A: model(100)})
    port = Port()
    for stream in ((), (0, 1), 0, "abc", (0, "8", 80000000), [0, 8, 80000000], (0, 8, 1, 1)):
        e = raises(ValueError, lambda: port.inspect(A, stream=stream))
        assert "three ints" in str(e) and "Next" not in str(e)[:6], e
    assert port.inspect(A, stream=(False, 8, 80000000)).need["heap"] > 0


def test_a_file_that_is_not_there_is_named():
    if SLOW:
        raise Skip("open() gives None here for a file that is not there")
    board.reset("full")
    m = ModelManager(Port())
    for path in ("/sd/none.kmodel", "/flash/none.kmodel"):
        m.add(path, path)
        e = raises(OSError, m.use, path)
        assert e.args[0] in (2, 19) and path in str(e) and "Next:" in str(e), e


def test_an_address_inside_the_firmware_is_said_when_added():
    board.reset("full")
    for address in (0x180000, 0x200000):
        cost = Port().inspect(address)
        assert "firmware" in cost.warning and "firmware" in cost.refuse and "offset" in cost.refuse
    assert "firmware" not in str(raises(ValueError, Port().inspect, 0x400000))


def test_a_wrong_output_shape_is_named():
    board.reset("full", flash={A: v4((28, 28, 1), [("conv", 16)])})
    m = ModelManager(Port())
    m.add("a", A)
    e = raises(RuntimeError, m.use("a").set_outputs, 0, 100, 100, 100)
    assert "0, 100, 100, 100" in str(e) and "shape" in str(e), e


def test_no_room_for_the_flash_map_is_no_reason_to_fail():
    board.reset("full", flash={A: model(100)})
    port = Port()
    plain = port.read_flash

    def read_flash(offset, n):
        if offset < A:  # where the firmware is
            raise MemoryError("memory allocation failed")
        return plain(offset, n)

    port.read_flash = read_flash
    said = port.inspect(A).warning
    assert "not checked" in said and "Next:" in said, said
    free = utils.heap_free()
    m = ModelManager(port)
    m.add("a", A)
    m.use("a")
    assert utils.heap_free() < free
