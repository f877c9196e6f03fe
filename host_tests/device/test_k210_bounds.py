# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210's port before a load and before a flash read, where malloc's lists are not found; and
loads that the firmware refuses."""

import maixmem_k210
import maixmem_k210_kpu
from devtest import needs, raises
from maixmem import KModelError, NoRoom
from maixmem_k210_chip import FLASH_SIZE
from maixmem_k210_kpu import Net, Port

LEAST = 4 * 256 + 130 + 8192  # of the heap, to read the smallest piece of flash


class Load:
    """What a Cost says of a load."""

    source = None

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
    before = getattr(maixmem_k210 if name == "utils" else maixmem_k210_kpu, name)
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


def blind():
    """A port that did not find malloc's lists."""
    p = Port()
    p.heap = None
    return p


# --- without malloc's lists: what heap_free() has must do at the worst ---


def test_what_is_known_of_a_heap_without_lists():
    p = blind()
    heap = on(Utils(8192), p.regions)[1]
    assert (heap.free, heap.largest, heap.holes, heap.exact) == (8192, 8192, None, False)
    assert on(Utils(8192), p.room, "heap") == 8192 and p.room("gc") == 0
    assert (p.margin, p.slots, p.share) == (0, 5, "evict")


def test_without_lists_the_worst_case_counts_and_nothing_is_read():
    p, utils = blind(), Utils(102400)
    cost = Load(100016).needs(102400)
    assert on(utils, p.check_fit, cost) is None and utils.reads == []
    e = on(Utils(102399), p.check_fit, cost)
    assert isinstance(e, NoRoom) and e.region == "heap" and e.cost is cost
    assert (e.need, e.free, e.largest) == (102400, 102399, None)
    assert on(utils, p.check_fit, cost, 1).need == 102401


def test_without_lists_no_forecast_says_no():
    assert on(Utils(0), blind().check_fit, Load(100016).needs(102400), 0, [Handle("a")]) is None


# --- a load that the firmware refuses ---


def test_a_refusal_has_the_code_of_the_firmware():
    p = Port()
    p.costs["m"] = Load(100016)
    e = failed(p, Kpu(ValueError("load error:2006, ERR_KMODEL_MEM")), NoRoom)
    assert e.region == "heap" and e.code == 2006 and "2006" in str(e)
    for code, kind in ((2002, KModelError), (2005, KModelError)):
        e = failed(p, Kpu(ValueError("load error:{}, ...".format(code))), kind)
        assert e.code == code
    assert failed(p, Kpu(ValueError("no code")), KModelError).code is None
    assert failed(p, Kpu(OSError(2)), OSError).args == (2,)


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
        data = on(heap, blind().read_flash, 5, 10000)
        assert [n for _, n in heap.reads] == pieces and heap.reads[0][0] == 5
        assert data == pattern(5, 10000)
    e = on(Utils(LEAST - 1), raises, NoRoom, blind().read_flash, 0, 256)
    assert (e.region, e.need, e.free) == ("heap", LEAST, LEAST - 1)


def test_flash_ends_where_an_address_does():
    needs("Maix.utils.flash_read")
    heap = Utils(500000)
    assert len(on(heap, blind().read_flash, FLASH_SIZE - 16, 16)) == 16
    for offset, n in ((FLASH_SIZE - 16, 17), (-1, 4), (0, -1)):
        on(heap, raises, ValueError, blind().read_flash, offset, n)
