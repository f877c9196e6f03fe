# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210 port, on the stand-in and on a board alike: regions, GC heap size, safe flash reads."""

import gc

import maixmem
import maixmem_k210_gc
from devtest import Skip, heap_locked, imports_of, needs, raises
from maixmem_k210 import utils  # Maix.utils, and on early firmware what stands in for its calls
from maixmem_k210_gc import firmware_version, max_gc_heap_now

try:
    import k210_board
except ImportError:
    k210_board = None  # a real board

HEAP = "3m"

SRAM = 6 << 20


def port():
    """The K210 port on a freshly powered board; a real one stays as it is."""
    if k210_board:
        k210_board.reset("minimum")
    return maixmem.port()


def port_with_board_heap():
    """The same, where the interpreter's own GC heap is one that a board could have."""
    needs("Maix.utils.gc_heap_size")
    p = port()
    if about("GC heap: ", p.warnings()):
        raise Skip(
            "the GC heap here is not the 512 KiB that are set: another interpreter, or a "
            "reset is due"
        )
    return p


def about(begin, warnings):
    """Those of the warnings that begin so: others are of this firmware."""
    return [text for text in warnings if text[: len(begin)] == begin]


def by_name(p, name):
    return [r for r in p.regions() if r.name == name][0]


def test_detected():
    assert port().name == "k210" and port().for_models().share == "evict"


def test_gc_region_is_exact():
    r = by_name(port(), "gc")
    assert r.exact and r.used + r.free == r.total
    assert r.total == gc.mem_alloc() + gc.mem_free()
    assert r.largest is None or 0 < r.largest <= r.free


def test_finding_the_largest_block_leaves_nothing_behind():
    p = port()
    p.regions()
    gc.collect()
    before = gc.mem_alloc()
    for _ in range(5):
        p.regions()
    gc.collect()
    assert gc.mem_alloc() - before < 2048, gc.mem_alloc() - before


def test_heap_region_is_what_malloc_has():
    p = port()
    r = by_name(p, "heap")
    assert r.exact == (p.heap is not None)
    assert r.total == SRAM and r.free >= r.largest and r.used == SRAM - r.free
    if r.exact:
        assert r.free > p.heap.heap_free and r.holes >= 0
        assert not hasattr(utils, "heap_free") or p.heap.heap_free == utils.heap_free()


def test_set_gc_heap_refuses_what_bricks_or_falls_back():
    p = port_with_board_heap()
    stored = utils.gc_heap_size()
    for n in (-1, 0, 1000, 8192, 65535):
        e = raises(ValueError, p.set_gc_heap, n)
        assert str(n) in str(e) and "65536" in str(e), e
    for n in (max_gc_heap_now() + 1, SRAM, (1 << 32) + 65536):
        e = raises(ValueError, p.set_gc_heap, n)
        assert str(n) in str(e) and str(max_gc_heap_now()) in str(e), e
    for x in (None, "x", 3.5, True):
        raises(TypeError, p.set_gc_heap, x)
    assert utils.gc_heap_size() == stored


def test_set_gc_heap_stores_warns_and_goes_back():
    p = port_with_board_heap()
    stored = utils.gc_heap_size()
    try:
        said = maixmem.set_gc_heap(262144)
        assert "machine.reset()" in said and utils.gc_heap_size() == 262144
        warning = about("GC heap: ", p.warnings())[0]
        assert "262144" in warning and "hard reset" in warning
        assert p.set_gc_heap(max_gc_heap_now())
        assert "could not be allocated" in about("GC heap: ", p.warnings())[0]
    finally:
        utils.gc_heap_size(stored)
    assert about("GC heap: ", p.warnings()) == []


def test_the_version_of_the_firmware():
    assert firmware_version("v0.6.2-84-g8fcd84a58 on 2022-08-26") == (0, 6, 2, 84)
    assert firmware_version("v0.5.1_47_g7c3d9ca on 2020-08-01") == (0, 5, 1, 47)
    assert firmware_version("v0.5.0") == (0, 5, 0, 0)
    assert firmware_version("#1 SMP PREEMPT_DYNAMIC") is None and firmware_version("") is None


def test_warnings_of_a_board_as_it_should_be_import_what_regions_do():
    p = port_with_board_heap()
    said = []
    found = imports_of(lambda: said.extend(p.warnings()))
    assert set(found) <= set(imports_of(p.regions)) and said == []


def test_what_a_firmware_is_known_for():
    p = port_with_board_heap()  # nothing to say on what runs this test
    try:
        for version in (None, (0, 5, 1, 48), (0, 6, 0, 0)):
            maixmem_k210_gc.firmware_version = lambda version=version: version
            assert about("MaixPy ", maixmem_k210_gc.warnings(port())) == []
        maixmem_k210_gc.firmware_version = lambda: (0, 5, 1, 47)
        said = about("MaixPy ", maixmem_k210_gc.warnings(port()))[0]
        assert "0.5.1-47" in said and "Next:" in said
    finally:
        maixmem_k210_gc.firmware_version = firmware_version
    assert about("GC heap: ", p.warnings()) == []


def test_read_flash_any_length():
    needs("Maix.utils.flash_read")
    p = port()
    head = bytes(p.read_flash(0, 16))
    assert len(head) == 16
    assert bytes(p.read_flash(5, 3)) == head[5:8]
    assert p.read_flash(0, 0) == b""
    long = p.read_flash(0, 9000)
    assert len(long) == 9000 and bytes(long[:16]) == head
    assert bytes(long[4096:4100]) == bytes(p.read_flash(4096, 4))
    assert bytes(p.read_flash((16 << 20) - 4, 4)) == utils.flash_read((16 << 20) - 4, 4)


def test_read_flash_refuses_to_wrap():
    needs("Maix.utils.flash_read")
    p = port()
    for offset, n in ((-1, 4), (0, -1), ((16 << 20) - 3, 4), (1 << 24, 1)):
        e = raises(ValueError, p.read_flash, offset, n)
        assert "0x1000000" in str(e), e


def test_read_flash_gives_the_memory_back():
    needs("Maix.utils.flash_read")
    p = port()
    before = utils.heap_free()
    p.read_flash(0, 20000)
    assert before - utils.heap_free() <= 32768
    for _ in range(20):
        p.read_flash(0, 20000)
    assert before - utils.heap_free() <= 32768


def test_sample_allocates_nothing():
    if hasattr(maixmem, "_g"):
        raise Skip("the modules of this runner are objects: each access allocates")
    p = port()
    free = [0] * len(p.watched)
    p.sample(free)
    heap_locked(p.sample, free)
    for i in range(len(free)):
        assert free[i] > 0
        assert p.watched[i] != "heap" or free[i] == p.free_bytes()


def test_images():
    p = port()
    img = p.new_image(32, 24)
    assert (img.width(), img.height(), img.size()) == (32, 24, 32 * 24 * 2)
    gray = p.new_image(32, 24, "gray")
    assert (gray.width(), gray.height(), gray.size()) == (32, 24, 32 * 24)
    other = p.new_image(32, 24)
    other.set_pixel(3, 4, (255, 255, 255))
    p.copy_into(img, other)
    assert img.get_pixel(3, 4) == (255, 255, 255) and img.get_pixel(4, 4) == (0, 0, 0)
    raises(ValueError, p.new_image, 32, 24, "jpeg")
