# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Who has to go for whom: the model manager on a port of equal units, on every interpreter."""

from devtest import raises
from maixmem import Cost, NoRoom
from maixmem_models import ModelManager
from maixmem_port import Port

SIZES = {"one": 1, "uno": 1, "eins": 1, "two": 2, "ten": 10}


class Units(Port):
    """A platform with `total` units; load() may refuse `refusals` times, a forecast may hope for
    `hope` too many."""

    share = "arena"
    margin = 0
    slots = 9
    refusals = hope = 0

    def __init__(self, total):
        self.free = total
        self.log = []

    def inspect(self, source):
        return Cost({"units": SIZES[source]}, {"units": SIZES[source]})

    def room(self, region):
        return self.free

    def free_bytes(self):
        return self.free

    def check_fit(self, cost, margin, freed=()):
        free = self.free + sum([SIZES[name] for name in freed]) + (self.hope if freed else 0)
        need = cost.peak["units"] + margin
        return None if need <= free else NoRoom("no", "units", need, free)

    def load(self, source):
        assert self.refusals or SIZES[source] <= self.free, "not asked before"
        if self.refusals:
            self.refusals -= 1
            raise NoRoom("refused", "units", SIZES[source], self.free)
        self.free -= SIZES[source]
        self.log.append("+" + source)
        return source

    def unload(self, handle):
        self.free += SIZES[handle]
        self.log.append("-" + handle)


def manager(total, keep=None):
    m = ModelManager(Units(total), keep)
    for name in SIZES:
        m.add(name, name)
    return m, m.port


def test_what_fits_stays():
    m, p = manager(5)
    for name in ("one", "uno", "eins", "two", "one"):
        assert m.use(name).handle == name and m.state == "loaded"
    assert p.log == ["+one", "+uno", "+eins", "+two"] and m.switches == 4 and p.free == 0
    assert [x.name for x in m.loaded()] == ["one", "uno", "eins", "two"]
    assert m.base == {"units": 5}


def test_the_least_recently_used_goes():
    m, p = manager(3)
    for name in ("one", "uno", "eins", "one", "two"):
        m.use(name)
    assert p.log[3:] == ["-eins", "-uno", "+two"]  # both at once, the one loaded last first
    m.use("uno")
    assert p.log[6:] == ["-one", "+uno"]


def test_nothing_goes_where_that_would_not_help():
    m, p = manager(3)
    for name in ("one", "uno"):
        m.use(name)
    e = raises(NoRoom, m.use, "ten")
    assert (e.region, e.need, e.free) == ("units", 10, 3)
    assert len(p.log) == 2 and m.state == "rolled_back" and m.switches == 2


def test_pins_and_blocks_stay():
    m, p = manager(2)
    m.add("pinned", "one", pin=True)
    m.use("pinned")
    with m.using("uno"):
        e = raises(NoRoom, m.use, "eins")
        assert (e.need, e.free) == (1, 0) and len(p.log) == 2
    m.use("eins")
    assert p.log[2:] == ["-uno", "+eins"]


def test_a_model_stays_until_the_last_of_its_blocks_ends():
    m, p = manager(1)
    with m.using("one"):
        with m.using("one"):
            pass
        assert raises(NoRoom, m.use, "uno").need == 1 and p.log == ["+one"]
    m.use("uno")
    assert p.log == ["+one", "-one", "+uno"]


def test_no_more_than_keep_are_resident():
    m, p = manager(9, keep=2)
    for name in ("one", "uno", "eins"):
        m.use(name)
    assert p.log == ["+one", "+uno", "-one", "+eins"]
    with m.using("uno"):
        with m.using("eins"):
            e = raises(NoRoom, m.use, "two")
    assert (e.region, e.need, e.free) == ("slots", 1, 0) and "2 of at most 2" in str(e)
    raises(ValueError, ModelManager, Units(1), 0)


def test_a_fallback_counts_no_more_once_the_model_came():
    m, p = manager(3)
    m.add("pair", "two", fallback="one")
    with m.using("uno"):
        with m.using("eins"):
            assert m.use("pair").name == "one"
    m.release_all()
    net = m.use("pair")
    assert net.name == "pair" and m.use("one").name == "one"
    assert m.use("pair") is net


def test_a_net_is_asked_for_only_after_its_handle_was_taken():
    m, p = manager(1)
    asked = []
    p.is_loaded = lambda handle: asked.append(handle) or True
    m.use("one")
    m.use("one")
    assert asked == [] and m.use("one").raw == "one"
    m.use("one")
    assert asked == ["one"]
    m.use("uno")
    m.use("one")  # loaded again: nobody has this handle
    m.use("one")
    assert asked == ["one"]


def test_a_forecast_is_not_the_last_word():
    m, p = manager(3)
    for name in ("one", "uno", "eins"):
        m.use(name)
    p.hope = 1
    m.use("two")
    assert p.log[3:] == ["-one", "-uno", "+two"]  # for one more unit than there was, one more goes


def test_a_platform_that_was_too_hopeful_is_asked_again_with_one_less():
    m, p = manager(3)
    for name in ("one", "uno"):
        m.use(name)
    p.refusals = 1
    m.use("eins")
    assert p.log[2:] == ["-one", "+eins"] and p.free == 1
    p.refusals = 9
    raises(NoRoom, m.use, "two")
    assert m.state == "empty" and p.free == 3
    p.refusals = 0
    m.use("two")
    assert m.state == "loaded" and p.free == 1
