# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""malloc's lists read from RAM: equal to what the stand-in's heap has, damage said, and a load
foretold."""

import gc
import sys

import image
import k210_board as board
import KPU as kpu
import maixmem
from devtest import OLD, SLOW, Skip, heap_locked, raises
from kmodel_build import v3
from maixmem_k210_fit import chunks, plan
from maixmem_k210_fit import damage as told
from maixmem_models import ModelManager

NEEDS = ("shim",)  # malloc's table has to be where it can be written over
HEAP = "2m"

A, B, C = 0x300000, 0x400000, 0x500000
RAM = 0x80000000
BOOTED = 4734976  # heap_free() of the minimum build


def started(free=None, **models):
    """A board with small models at A, B and C and `free` bytes behind the break; its port."""
    model = v3((28, 28, 1), [("conv", 16), ("raw", 2, 40000)], main_mem=20000)
    gc_heap = None if free is None else BOOTED + 524288 - free
    board.reset("minimum", gc_heap=gc_heap, flash={A: model, B: model, C: model})
    return maixmem.port().for_models()


def figures(p):
    """Free, largest block, holes and heap_free() by the stand-in's own books."""
    heap = board.heap
    pieces = [n for n, _ in heap.pieces()]
    end = max(heap.end - heap.top, heap.heap_free()) - 32
    return heap.total_free(), max(pieces + [end]) - 8, len(pieces), heap.heap_free()


def looked(p):
    free = p.free_bytes()
    return free, p.largest, p.heap.holes, p.heap.heap_free


def test_the_lists_are_read_as_they_are():
    p = started()
    assert p.heap and looked(p) == figures(p)
    a, b, c = kpu.load(A), kpu.load(B), kpu.load(C)
    assert looked(p) == figures(p)
    kpu.deinit(a)
    assert p.free_bytes() == figures(p)[0] and p.heap.holes > 0
    blocks = [board.heap.malloc(n) for n in (24, 100, 100, 3000, 100, 600, 900, 24)]
    for i in (0, 3, 5, 1):
        board.heap.free(blocks[i])
        assert looked(p) == figures(p)
    kpu.deinit(c)
    kpu.deinit(b)
    assert looked(p) == figures(p)


def test_a_region_has_the_exact_figures():
    p = started()
    a, b = kpu.load(A), kpu.load(B)
    kpu.deinit(a)
    r = p.regions()[1]
    assert (r.free, r.largest, r.holes) == figures(p)[:3]
    assert r.exact and r.used + r.free == r.total
    said = []
    assert maixmem.report(said.append)["regions"][1]["holes"] == r.holes
    assert "heap: free at the end and in {} holes".format(r.holes) in said
    kpu.deinit(b)


def test_holes_come_in_the_order_in_which_malloc_tries_them():
    p = started()
    blocks = [board.heap.malloc(n) for n in (3000, 24, 100, 24, 3000, 24, 700, 24)]
    for i in (4, 0, 2, 6):
        board.heap.free(blocks[i])
    m = plan(p.heap)
    assert m.holes == board.heap.holes and m.last == board.heap.last
    assert (m.top, m.end) == (board.heap.top, board.heap.end)
    board.heap.malloc(50)  # leaves a rest, which goes before the others
    m = plan(p.heap)
    assert m.last == board.heap.last and m.last and m.holes == board.heap.holes


def test_the_chunks_lead_from_the_gc_heap_to_the_top():
    p = started()
    a, b = kpu.load(A), kpu.load(B)
    kpu.deinit(a)
    p.heap.look()
    found = chunks(p.heap)
    assert found[0][0] == board.heap.gc_block - 16
    assert [c[:2] for c in found if not c[2]] == sorted([(at, n) for n, at in board.heap.pieces()])
    used = {at: n for at, n, taken in found if taken}
    assert used == {at: n for at, n in board.heap.used.items() if at >= found[0][0]}
    kpu.deinit(b)


def test_a_look_allocates_nothing():
    if OLD:
        raise Skip("addresses are objects on this interpreter of 32 bits; a K210 has 64")
    p = started()
    free = [0, 0, 0]
    a, b = kpu.load(A), kpu.load(B)
    kpu.deinit(a)
    p.sample(free)
    heap_locked(p.sample, free)
    assert free[1:] == [p.heap.free, p.heap.largest]
    kpu.deinit(b)


def allocated(call):
    """GC heap that a call takes when it is warm."""
    call()
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    call()
    took = gc.mem_alloc() - before
    gc.enable()
    return took


def test_forward_allocates_what_the_firmwares_does():
    if OLD or sys.implementation.name == "cpython":
        raise Skip("this interpreter does not count what a call allocates")
    m = ModelManager(started())
    m.add("a", A)
    net = m.use("a")
    img = image.Image(size=(28, 28)).to_grayscale()
    img.pix_to_ai()
    plain = allocated(lambda: kpu.forward(net.handle, img, 0))
    assert allocated(lambda: net.forward(img)) <= plain, plain
    m.release_all()


# --- damage ---


def damage(p):
    """(what, address of the word, value) of the ways in which a write can break the lists."""
    size, at = board.heap.holes[0]
    top = board.heap.top
    return (
        ("size of a hole 0", at + 8, 0),
        ("its size beyond the top", at + 8, 0x7FFFFFF0),
        ("its size another", at + 8, (size + 16) | 1),
        ("next in its list", at + 16, 0x41414141),
        ("last in its list", at + 24, 0x41414141),
        ("the copy of its size", at + size, size + 32),
        ("size of the top 0", top + 8, 0),
        ("size of the top garbage", top + 8, 0x41414141),
    )


def test_damage_is_said_with_its_address():
    p = started()
    blocks = [board.heap.malloc(n) for n in (3000, 24, 5000, 24)]
    board.heap.free(blocks[0])
    board.heap.free(blocks[2])
    whole = p.free_bytes()
    for what, address, value in damage(p):
        board.ram.poked = {address: value}
        place = p.heap.look()
        near = (board.heap.holes[0][1], board.heap.holes[1][1], board.heap.top)
        assert [x for x in near if 0 <= address - x < 6000 and abs(place - x) < 6000], what
        assert p.free_bytes() == board.heap.heap_free() and not p.exact, what
        sys.modules.pop("maixmem_report", None)
        said = str(raises(RuntimeError, maixmem.report, str))  # it must not be read from flash
        assert hex(place) in said and "damaged" in said, (what, said)
        board.ram.poked = {}
        assert p.free_bytes() == whole and p.exact


def yolo_freed(free):
    """A model of YOLO is freed by free(net) between blocks that stay; where the lists are not
    whole then."""
    p = started()
    manager = ModelManager()
    manager.add("yolo", A, setup=lambda net: net.init_yolo2(0.5, 0.3, 1, (1.0, 1.0)))
    net = manager.use("yolo")
    board.heap.malloc(5000)  # behind its last block
    p = manager.port
    free(p, net)
    return p, p.heap.look()


def test_the_firmware_clears_a_size_where_it_frees_yolo():
    p, place = yolo_freed(lambda p, net: kpu.deinit(net.handle))
    holes = [hole for hole in board.heap.pieces() if hole[0] + hole[1] == place]
    assert len(holes) == 1 and p.heap.words[(place - RAM) >> 2] == 0


def test_the_size_is_written_again():
    p, place = yolo_freed(lambda p, net: p.unload(net.handle))
    assert place == 0 and p.free_bytes() == figures(p)[0] and p.exact
    assert board.ram.poked == {} and board.ram.cleared == []


def test_nothing_is_written_where_it_was_not_whole_before():
    def free(p, net):
        board.ram.poked = {board.heap.top + 8: 0}
        p.unload(net.handle)

    try:
        p, place = yolo_freed(free)
        assert place == board.heap.top and list(board.ram.poked) == [place + 8]
    finally:
        board.ram.poked = {}
    assert p.heap.look() and board.ram.cleared


def test_nothing_is_written_where_heads_do_not_agree():
    from maixmem_k210_mend import mend

    for at, value in ((0, 48), (8, 5025), (None, 64)):  # the word itself; used before; its head
        p, place = yolo_freed(lambda p, net: kpu.deinit(net.handle))
        (hole,) = [hole for hole in board.heap.pieces() if hole[0] + hole[1] == place]
        board.ram.poked = before = {(hole[1] + 8 if at is None else place + at): value}
        try:
            mend(p.heap.words, p.heap.table, place)
            assert board.ram.poked == before and board.ram.cleared
        finally:
            board.ram.poked = {}


def test_the_block_before_the_damage_is_named():
    import maixmem_text  # in memory: it must not be read from flash

    assert maixmem_text
    p = started()
    blocks = [board.heap.malloc(n) for n in (3000, 24, 5000, 24)]
    board.heap.free(blocks[0])
    board.heap.free(blocks[2])
    for what, address, value in damage(p):
        board.ram.poked = {address: value}
        place = p.heap.look()
        at, n = max([c for c in board.heap.used.items() if c[0] + c[1] <= place])
        said = "perhaps by what has the block of {} bytes at {};".format(n - 8, hex(at + 16))
        (line,) = told(p)
        assert hex(place) in line and said in line, (what, line)
        board.ram.poked = {}
    assert told(p) == []


def test_other_firmware_has_no_table():
    if SLOW:
        raise Skip("the modules of this runner are objects and stay")
    started()
    name = "maixmem_k210_heap"
    before = sys.modules.pop(name)
    try:
        assert __import__(name).heap.free == board.heap.total_free()
        del sys.modules[name]
        board.ram.blank = True
        assert __import__(name).heap is None
    finally:
        sys.modules[name] = before
        board.ram.blank = False


# --- what a load will do ---


def crowded():
    """Models at A and B, a hole of one between them and little behind: (port, cost, nets)."""
    p = started()
    cost = p.inspect(A)
    p.inspect(B)
    nets = [kpu.load(A), kpu.load(B)]
    return p, cost, nets


def fill(left):
    """Takes what is behind the break but for `left` bytes."""
    board.heap.malloc(board.heap.heap_free() - left - 64)


def outcome(source):
    """What bare kpu.load does: None, 2006 or "hang"; the board goes on."""
    try:
        kpu.deinit(kpu.load(source))
    except board.DeviceCrash:
        board.state.dead = None
        return "hang"
    except ValueError as e:
        return 2006 if "2006" in str(e) else str(e)
    return None


def test_a_load_goes_into_holes_that_heap_free_does_not_show():
    p, cost, nets = crowded()
    hole = board.heap.malloc(200000)
    fill(0)
    kpu.deinit(nets[0])
    board.heap.free(hole)
    assert cost.peak["heap"] > board.heap.heap_free()
    assert p.check_fit(cost) is None and outcome(A) is None


def test_a_refusal_knows_whether_it_would_hang():
    import maixmem_k210_cause
    import maixmem_k210_gc  # its words are in memory: there is no room left to read them
    import maixmem_text

    assert maixmem_k210_gc and maixmem_k210_cause and maixmem_text
    seen = []
    for left in (0, 36000, 65536, 131072, 196608, 225280, 262144):
        p, cost, nets = crowded()
        fill(left)
        e = p.check_fit(cost)
        kind = e and ("hang" if e.hangs else 2006)
        if e:
            assert e.free == p.free_bytes() and e.largest == p.largest
            assert ("hang the board" if e.hangs else "2006") in p.explain(e)
        assert outcome(A) == kind, (left, kind)
        seen.append(kind)
    assert None in seen and "hang" in seen and 2006 in seen, seen


def test_what_is_spare_stays_spare():
    p, cost, nets = crowded()
    fill(262144)
    assert p.check_fit(cost) is None
    room = p.largest - cost.peak["heap"]
    assert p.check_fit(cost, 200000) and p.check_fit(cost, 8192) is None, room


def test_the_end_is_trimmed_where_that_gives_the_room():
    p, cost, nets = crowded()
    top = board.heap.malloc(120000)
    fill(225280 - 120000)
    board.heap.free(top)
    before = board.heap.heap_free()
    found = p.check_fit(cost)
    if board.heap.heap_free() > before:
        assert found is None and outcome(A) is None
    else:
        assert outcome(A) == (found and ("hang" if found.hangs else 2006))


def test_a_forecast_knows_what_goes_with_a_net():
    for going in ((0,), (1,), (0, 1)):
        p, cost, nets = crowded()
        fill(0)
        assert p.check_fit(cost)
        forecast = p.check_fit(cost, 0, [nets[i] for i in going])
        for i in going:
            kpu.deinit(nets[i])
        assert (p.check_fit(cost) is None) == (forecast is None), going
        assert outcome(A) == (forecast and ("hang" if forecast.hangs else 2006)), going


# --- a model in a file ---


def filed(size, main_mem=20000):
    """The bytes of a model."""
    return bytes(v3((28, 28, 1), [("conv", 16), ("raw", 2, size)], main_mem=main_mem).to_bytes())


def test_what_a_model_takes_is_measured_until_it_is_what_was_forecast():
    p = started()
    board.mount_file("/sd/m.kmodel", filed(20000))
    m = ModelManager(p)
    m.add("m", "/sd/m.kmodel")
    looks = []
    plain = p.free_bytes
    p.free_bytes = lambda: looks.append(0) or plain()
    found = []
    for _ in range(3):
        m.use("m")
        m.release("m")
        found.append(len(looks))
        looks.clear()
    assert found[1] == found[2] <= found[0] - 2, found


def test_a_file_that_was_changed_gets_a_new_forecast():
    p = started()
    board.mount_file("/sd/m.kmodel", filed(20000))
    m = ModelManager(p)
    m.add("m", "/sd/m.kmodel")
    need = m.models["m"].cost.need["heap"]
    board.mount_file("/sd/m.kmodel", filed(40000))
    m.use("m")
    assert m.models["m"].cost.need["heap"] == need + 20000 == m.models["m"].took
    m.release("m")
    board.mount_file("/sd/m.kmodel", filed(40000, 6000000))  # a bare load fails
    raises(maixmem.NoRoom, m.use, "m")
    board.mount_file("/sd/m.kmodel", filed(20000))
    m.models["m"].cost = None
    m.use("m")
    m.release_all()


def test_a_file_that_is_gone_is_named():
    if OLD:
        raise Skip("open() of this runner gives None for a file that is not there")
    p = started()
    board.mount_file("/sd/m.kmodel", filed(40000))
    m = ModelManager(p)
    m.add("m", "/sd/m.kmodel")
    board.mount_file("/sd/m.kmodel", None)  # no longer there
    e = raises(OSError, m.use, "m")
    assert "/sd/m.kmodel" in str(e) and "Next:" in str(e), e
