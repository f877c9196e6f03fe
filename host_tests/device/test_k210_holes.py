# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the K210's port keeps in mind of the system heap, to the byte: parts, holes, and the last
word before a load."""

import maixmem_k210
import maixmem_k210_kpu
from devtest import needs, raises
from maixmem import KModelError, NoRoom
from maixmem_k210_chip import FLASH_SIZE, PAGE, TRANSIENT, TRIM, TRIM_READ, UNCHECKED
from maixmem_k210_kpu import Net, Port

LEAST = 4 * 256 + 130 + 8192  # of the heap, to read the smallest piece of flash


class Load:
    """What a Cost says of a load."""

    def __init__(self, *chunks):
        self.chunks = list(chunks)
        self.peak = {"heap": 0}

    def needs(self, n):
        self.peak["heap"] = n
        return self


class Handle:
    def __init__(self, key):
        self.key = key

    def model_path(self):
        return self.key


class Utils:
    """Maix.utils of a heap with `free` bytes at its end, and `after` once a flash read has trimmed
    it."""

    def __init__(self, free, after=None):
        self.free = free
        self.after = free if after is None else after
        self.reads = []

    def heap_free(self):
        return self.free

    def flash_read(self, offset, n):
        self.reads.append((offset, n))
        self.free = self.after
        return pattern(offset, n) if n <= 4096 else None  # to trim, nobody looks at it


def pattern(offset, n):
    """Bytes of flash, each by its address."""
    data = bytearray(n)
    for i in range(n):
        data[i] = (offset + i) * 7 & 255
    return data


class Kpu:
    """The module KPU, whose load() fails with these errors, one after the other."""

    def __init__(self, *errors):
        self.errors = list(errors)

    def load(self, source):
        raise self.errors.pop(0)

    def forward(self, *args):
        return args


def on(utils, f, *args):
    """f(*args) with these utils in the port's place of the firmware's."""
    return _with("utils", utils, f, args)


def on_kpu(kpu, f, *args):
    """The same with this module KPU."""
    return _with("kpu", kpu, f, args)


def failed(p, kpu, kind):
    """What p.load("m") raises, of class `kind`, when the firmware fails so."""
    return on_kpu(kpu, raises, kind, p.load, "m")


def _with(name, value, f, args):
    before = getattr(maixmem_k210_kpu, name)
    _put(name, value)
    try:
        found = f(*args)
    finally:
        _put(name, before)
    return found


def _put(name, value):
    for module in (maixmem_k210, maixmem_k210_kpu):
        if hasattr(module, "_g"):  # a runner whose modules are objects
            if name in module._g:
                module._g[name] = value
        elif hasattr(module, name):
            setattr(module, name, value)


def port_with(*parts):
    p = Port()
    p.parts = [list(part) for part in parts]
    return p


# --- parts and holes ---


def test_a_load_keeps_what_is_not_freed_at_once():
    p = Port()
    p._on_load("a", Load(1008, 4096 | TRANSIENT, 2000))
    p._on_load("b", Load(512 | UNCHECKED))
    assert p.parts == [["a", 3008], ["b", 512]] and p.holes() == [0] and not p.unsure


def test_what_is_freed_below_another_is_a_hole():
    p = port_with(("a", 3008), ("b", 512), ("c", 64), ("d", 32))
    p._on_free("a", 0)
    p._on_free("c", 0)
    assert p.parts == [[None, 3008], ["b", 512], [None, 64], ["d", 32]] and not p.unsure
    assert p.holes() == [3008, 64, 0]
    assert p.holes([Handle("b")]) == [3584, 0]
    assert p.holes([Handle("d")]) == [3008, 96]
    p._on_free("b", 0)
    assert p.parts == [[None, 3584], ["d", 32]]


def test_the_smallest_hole_that_is_large_enough_is_used():
    p = port_with((None, 4000), ("x", 32), (None, 2000), ("y", 32))
    p._on_load("a", Load(1600, 3200))
    assert p.parts == [["a", 3200], [None, 800], ["x", 32], ["a", 1600], [None, 400], ["y", 32]]
    p._on_load("b", Load(400))
    p._on_free("x", 0)
    assert p.parts == [["a", 3200], [None, 832], ["a", 1600], ["b", 400], ["y", 32]]


def test_what_was_at_the_top_is_no_hole_when_it_went_back():
    for n in (100000, TRIM + 2 * PAGE - 16, TRIM + 2 * PAGE):
        p = port_with(("x", 32), ("a", n))
        p._on_free("a", n - 2 * PAGE)
        assert p.parts == [["x", 32]] and not p.unsure
        p = port_with(("x", 32), ("a", n))
        p._on_free("a", n - 2 * PAGE - 1)
        assert p.parts == [["x", 32], [None, n]]
        assert p.unsure == (n < TRIM + 2 * PAGE)
    p = port_with()
    p._on_free("a", 4096)
    assert p.parts == [] and not p.unsure


def test_a_hole_that_may_be_the_top_serves_only_what_it_holds():
    for size, parts in (
        (5008, [["x", 32], ["a", 5008], [None, 0]]),
        (5024, [["x", 32], ["a", 5024]]),
    ):
        p = port_with(("x", 32), (None, 5008))
        p.unsure = True
        p._on_load("a", Load(size))
        assert p.parts == parts and not p.unsure


# --- the free end of the heap ---


def test_the_end_is_trimmed_where_that_is_safe():
    p = Port()
    small = Utils(TRIM, 2 * TRIM)
    assert on(small, p.trim_heap) == TRIM and small.reads == [] and p.untrimmed
    large = Utils(TRIM + 1, 2 * TRIM)
    assert on(large, p.trim_heap) == 2 * TRIM and large.reads == [(0, TRIM_READ)]
    assert not p.untrimmed


def test_a_read_that_may_have_gone_into_a_hole_has_trimmed_nothing():
    for n, untrimmed in ((4 * TRIM_READ - 16, False), (4 * TRIM_READ, True)):
        p = port_with((None, n), ("x", 32))
        on(Utils(2 * TRIM), p.trim_heap)
        assert p.untrimmed == untrimmed


def test_what_came_back_with_the_trim_was_at_the_top():
    for risen, parts in ((40000 - 2 * PAGE, []), (40000 - 2 * PAGE - 1, [[None, 40000]])):
        p = port_with((None, 40000))
        p.unsure = True
        on(Utils(2 * TRIM, 2 * TRIM + risen), p.trim_heap)
        assert p.parts == parts and p.unsure == bool(parts)


# --- the last word before a load ---


def test_plenty_is_seen_without_a_read():
    p = Port()
    plenty = Utils(500000)
    assert on(plenty, p.check_fit, Load().needs(500000 - 2 * PAGE)) is None and plenty.reads == []
    assert on(plenty, p.check_fit, Load().needs(500000 - 2 * PAGE), 1) is None
    assert plenty.reads == [(0, TRIM_READ)]


def test_no_room_has_the_figures():
    p = port_with((None, 64), ("x", 32))
    cost = Load(100016).needs(102400)
    assert on(Utils(102400), p.check_fit, cost) is None
    e = on(Utils(102399), p.check_fit, cost)
    assert isinstance(e, NoRoom) and e.region == "heap" and e.cost is cost
    assert (e.need, e.free, e.holes) == (102400, 102399, 64)
    assert on(Utils(102400), p.check_fit, cost, 1).need == 102401


def test_a_hole_counts_only_where_nothing_can_hang():
    p = port_with((None, 100016), ("x", 32))
    low = Utils(4096)
    assert on(low, p.check_fit, Load(100016).needs(102400)) is None
    assert on(low, p.check_fit, Load(100016 | UNCHECKED).needs(102400)).need == 102400
    assert on(low, p.check_fit, Load(100016).needs(102400), 4097).need == 102400 + 4097


def test_a_load_that_might_come_half_way_does_not_rest_on_a_hole():
    # without its hole the first chunk moves the break, and the second one could still be had alone
    p = port_with((None, 4000), ("x", 32))
    assert on(Utils(8192), p.check_fit, Load(4000, 8160).needs(12288)).free == 8192
    assert on(Utils(8192), p.check_fit, Load(4000, 8176).needs(12288)).free == 8192
    assert on(Utils(12288), p.check_fit, Load(4000, 8176).needs(16384)).free == 12288


def test_a_forecast_counts_what_will_be_freed():
    p = port_with(("a", 200000))
    freed = [Handle("a")]
    # 16 KiB of doubt, and 128 KiB that a trim may bring
    other = [Handle("b")]
    assert on(Utils(8192), p.check_fit, Load(155616).needs(155648), 0, other) is None
    assert on(Utils(8192), p.check_fit, Load(155632).needs(159744), 0, other).need == 159744
    assert on(Utils(8192), p.check_fit, Load(155632).needs(159744), 0, freed) is None
    assert on(Utils(8192), p.check_fit, Load(400000).needs(405504), 0, freed).free == 208192


def test_what_must_be_spare_counts_where_something_could_hang():
    p = port_with((None, 4000), ("x", 32))
    cost = Load(4000, 8160 | UNCHECKED).needs(12288)
    assert on(Utils(12288), p.check_fit, cost, 4096).need == 16384


def test_room_is_what_one_load_may_count_on():
    p = port_with((None, 4000), ("x", 32), (None, 2000))
    assert on(Utils(8192), p.room, "heap") == 14192 and p.room("gc") == 0
    assert (p.margin, p.slots, p.share) == (0, 5, "evict")


# --- a load that the firmware refuses ---


def test_holes_that_were_taken_are_forgotten():
    p = port_with((None, 4000), ("x", 32), (None, 2000), ("y", 64))
    p.costs["m"] = Load(100016)
    e = failed(p, Kpu(ValueError("load error:2006, ERR_KMODEL_MEM")), NoRoom)
    assert e.region == "heap" and e.code == 2006 and "2006" in str(e)
    assert p.parts == [["x", 32], ["y", 64]] and not p.unsure


def test_other_codes_keep_the_holes():
    for code, kind in ((2002, KModelError), (2005, KModelError)):
        p = port_with((None, 4000), ("x", 32))
        p.costs["m"] = Load(100016)
        e = failed(p, Kpu(ValueError("load error:{}, ...".format(code))), kind)
        assert e.code == code and p.parts[:2] == [[None, 4000], ["x", 32]]
    p = port_with((None, 4000), ("x", 32))
    p.costs["m"] = Load(1600)
    assert failed(p, Kpu(ValueError("no code")), KModelError).code is None
    assert failed(p, Kpu(OSError(2)), OSError).args == (2,)
    assert p.parts == [[None, 4000], ["x", 32]]


def test_a_slot_is_asked_for_twice():
    p = Port()
    p.costs["m"] = Load(1600)
    full = ValueError("load error:2009, no slot")
    e = failed(p, Kpu(full, full), NoRoom)
    assert (e.region, e.need, e.free, e.code) == ("slots", 1, 0, 2009)
    assert failed(p, Kpu(full, ValueError("load error:2002, x")), KModelError).code == 2002


def test_forward_takes_the_first_output():
    net = Net("n", "m")
    net.handle = "a handle"
    assert on_kpu(Kpu(), net.forward, [1], 1) == ("a handle", [1], 1)
    assert on_kpu(Kpu(), net.forward, [1]) == ("a handle", [1], 0)


# --- flash, in pieces for which there is room ---


def test_flash_is_read_in_pieces_that_fit():
    needs("Maix.utils.flash_read")
    for free, pieces in (
        (500000, [4096, 4096, 1808]),
        (4 * 4096 + 130 + 8192, [4096, 4096, 1808]),
        (4 * 4096 + 130 + 8191, [4095, 4095, 1810]),
        (LEAST, [256] * 39 + [16]),
    ):
        heap = Utils(free)
        data = on(heap, Port().read_flash, 5, 10000)
        assert [n for _, n in heap.reads] == pieces and heap.reads[0][0] == 5
        assert data == pattern(5, 10000)
    e = on(Utils(LEAST - 1), raises, NoRoom, Port().read_flash, 0, 256)
    assert (e.region, e.need, e.free) == ("heap", LEAST, LEAST - 1)


def test_flash_ends_where_an_address_does():
    needs("Maix.utils.flash_read")
    heap = Utils(500000)
    assert len(on(heap, Port().read_flash, FLASH_SIZE - 16, 16)) == 16
    for offset, n in ((FLASH_SIZE - 16, 17), (-1, 4), (0, -1)):
        on(heap, raises, ValueError, Port().read_flash, offset, n)
