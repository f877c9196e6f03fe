# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The front door without a board: text helpers, regions, report and Watch on whatever this is."""

import gc
import sys

import maixmem
from devtest import OLD, Skip, heap_locked, raises
from maixmem import NoRoom, Region, Watch
from maixmem_port import Port
from maixmem_report import bar, kib, wrap

HEAP = "2m"


class FakePort(Port):
    """Two regions with figures that a test sets."""

    name = "fake"
    watched = ("gc", "heap")

    def __init__(self, gc_free, heap_free, warnings):
        self.free = [gc_free, heap_free]
        self.said = warnings

    def regions(self):
        heap = Region("heap", None, None, self.free[1], None, False)
        return [Region("gc", 1000, 1000 - self.free[0], self.free[0], 100), heap]

    def warnings(self):
        return self.said

    def sample(self, free):
        free[0] = self.free[0]
        free[1] = self.free[1]


def with_port(p, f):
    maixmem.set_port(p)
    try:
        return f()
    finally:
        maixmem.set_port(None)


def test_sizes_as_text():
    assert [kib(n) for n in (0, 17, 1023, 1024, 524288, 1048575, 1048576, 6 << 20)] == [
        "0 B",
        "17 B",
        "1023 B",
        "1.0 KiB",
        "512.0 KiB",
        "1023.9 KiB",
        "1.0 MiB",
        "6.0 MiB",
    ]
    assert kib(-2048) == "-2.0 KiB"


def test_bar_shows_any_use_and_never_overflows():
    assert bar(0, 100, 10) == "[..........]"
    assert bar(1, 100, 10) == "[#.........]"
    assert bar(100, 100, 10) == "[##########]"
    assert bar(300, 100, 10) == "[##########]"
    assert bar(None, 100, 4) == bar(1, None, 4) == bar(0, 0, 4) == "[????]"


def test_wrap_keeps_words_and_width():
    text = "a new size of the heap needs a hard reset and nothing else at all"
    lines = wrap(text, 20)
    assert " ".join([x.strip() for x in lines]) == text
    assert max([len(x) for x in lines]) <= 20
    assert wrap("x" * 30, 20) == ["x" * 30]


def test_report_fits_sixty_columns_and_returns_the_numbers():
    p = FakePort(
        400, 70000, ["this is a warning of the port that is long enough to need a second line"]
    )
    lines = []
    said = with_port(p, lambda: maixmem.report(lines.append))
    assert max([len(x) for x in lines]) <= 60, lines
    assert lines[0] == "maixmem " + maixmem.__version__ + " on fake"
    assert "600 B" in lines[2] and "400 B" in lines[2] and "[##########......]" in lines[2]
    assert "68.3 KiB+" in lines[3] and "?" in lines[3]
    assert [x for x in lines if x.startswith("! this is a warning")]
    assert said["regions"][0] == {
        "name": "gc",
        "total": 1000,
        "used": 600,
        "free": 400,
        "largest": 100,
        "holes": None,
        "exact": True,
    }
    assert said["regions"][1]["exact"] is False and said["warnings"] == p.said


def test_report_of_this_platform():
    lines = []
    said = maixmem.report(lines.append)
    assert max([len(x) for x in lines]) <= 60, lines
    for r in said["regions"]:
        if r["total"] is not None:
            assert r["used"] + r["free"] == r["total"], r
        if r["largest"] is not None and r["exact"]:
            assert 0 < r["largest"] <= r["free"], r


def in_pieces(piece):
    """Fills the GC heap with blocks and gives every other one back; the others, to be kept."""
    gc.collect()
    kept = [None] * (gc.mem_free() // piece)
    n = 0
    try:
        while n < len(kept):
            kept[n] = bytearray(piece)
            n += 1
    except MemoryError:
        pass
    for i in range(0, n, 2):
        kept[i] = None
    gc.collect()
    return kept


def test_a_heap_in_pieces_is_reported_all_the_same():
    if sys.implementation.name != "micropython":
        raise Skip("this interpreter does not count its heap")
    if sys.platform in ("esp32", "webassembly"):
        raise Skip("a heap that grows is full when the system has nothing left: test_growing")
    if OLD:
        raise Skip("it collects by hand only: what a report leaves fills the pieces")
    loads_what_regions_needs()
    maixmem.report(lambda line: None)
    for piece in (200, 600, 1500, 7000):
        kept = in_pieces(piece)
        gcs = [r for r in maixmem.regions() if r.name == "gc"]
        said = maixmem.report(lambda line: None)
        del kept
        gc.collect()
        assert gcs[0].free > 3 * piece and said["regions"][0]["name"] == "gc"
        largest = gcs[0].largest
        if largest is None:
            assert piece < 256, piece
        else:
            assert piece <= largest < 3 * piece + 256, (piece, largest)


def loads_what_regions_needs():
    """Its one-time parts stay: they cannot be loaded into small holes."""
    for name in ("boards", "k210_chip"):
        try:
            maixmem.resident(name)
        except ImportError:  # of another port
            pass


def test_a_heap_without_room_for_a_part_is_counted():
    if OLD:
        raise Skip("the modules of this runner are objects: their globals are out of reach")
    try:
        import maixmem_generic
    except ImportError:
        raise Skip("the generic port is not on this board")
    if not hasattr(gc, "mem_free"):
        raise Skip("this interpreter does not count its heap")
    plain = maixmem_generic.run_once

    def full(*args):
        raise MemoryError

    maixmem_generic.run_once = full
    try:
        port = maixmem_generic.Port()
        found = [r for r in port.regions() if r.name == "gc"][0]
        assert found.used + found.free == found.total
        assert found.largest is None and not found.exact and port.warnings() == []
    finally:
        maixmem_generic.run_once = plain


def test_watch_keeps_the_lowest():
    p = FakePort(500, 9000, [])

    def go():
        w = Watch()
        p.free[0] = 200
        w.sample()
        p.free[1] = 5000
        w.mark("loaded")
        p.free[0], p.free[1] = 450, 9000
        w.sample()
        lines = []
        w.report(lines.append)
        return w, lines

    w, lines = with_port(p, go)
    assert w.high_water() == {"gc": 300, "heap": 4000}
    assert w.samples == 4
    assert len(lines) == 5 and lines[2].split()[0] == "loaded" and lines[3].split()[0] == "lowest"
    assert lines[3].split()[1:] == ["200", "B", "4.8", "KiB"]


def test_watch_sample_allocates_nothing():
    w = with_port(FakePort(500, 9000, []), Watch)
    w.sample()
    heap_locked(w.sample)
    assert w.samples == 3


def test_watch_sample_of_this_platform_allocates_nothing():
    if hasattr(maixmem, "_g"):
        raise Skip("the modules of this runner are objects: each access allocates")
    w = Watch()
    w.sample()
    heap_locked(w.sample)
    assert w.samples == 3


def test_watch_sample_of_the_generic_port_allocates_nothing():
    """Under Linux as well, whose files it would have to read."""
    if hasattr(maixmem, "_g"):
        raise Skip("the modules of this runner are objects: each access allocates")
    try:
        import maixmem_generic
    except ImportError:
        raise Skip("the generic port is not on this board")
    w = with_port(maixmem_generic.Port(), Watch)
    assert w.names in (("gc",), ("ram",))
    w.sample()
    heap_locked(w.sample)
    assert w.samples == 3


def test_no_room_carries_its_numbers():
    e = NoRoom("heap: 10 bytes needed, 4 free", "heap", 10, 4)
    assert isinstance(e, MemoryError)
    assert (e.region, e.need, e.free) == ("heap", 10, 4)
    assert str(e) == "heap: 10 bytes needed, 4 free"


def test_a_platform_without_a_gc_heap_setting_says_so():
    e = raises(NotImplementedError, with_port, FakePort(1, 1, []), lambda: maixmem.set_gc_heap(1))
    assert "fake" in str(e)
