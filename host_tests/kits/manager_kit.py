# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a ModelManager does on every port: checks that take a rig. For device and host tests, in
the device dialect.

    for check in manager_kit.CHECKS:
        check(rig)
    done = manager_kit.sweep(rig, exceptions)

A rig is a board and its port:
    start()     a fresh board; returns a new port
    models      [(source, how)], four that the port can load, all different; any two fit at a time,
                all four need not
    live()      bytes that loaded models hold on the board, by the board's own account
    fill(left)  takes the memory that models are loaded into, as another program would, until
                `left` bytes of it are free; what it took before is free again first
    faults      the fault points of the board, a Faults of port_shims/faults.py: numbered from 1,
                `count` and `names` of those passed since clear()
    refusal     (name, error): the fault point in a load where the runtime finds no memory, and
                what it fails with there, an exception or what the call returns
    share       share of the port
"""

from maixmem import KModelError, NoRoom
from maixmem_models import ModelManager, ModelReleasedError

NAMES = ("a", "b", "c", "d")
_HEADERS = 256  # bytes of an allocator's own beside its blocks, which live() may not count


def manager(rig, keep=1, setup=None, margin=None):
    """A manager on a fresh board that knows the rig's models by NAMES."""
    found = ModelManager(rig.start(), keep=keep, margin=margin)
    for i in range(len(NAMES)):
        source, how = rig.models[i]
        found.add(NAMES[i], source, setup=setup, **how)
    return found


def resident(m):
    """Names that use() would hand out at once, in order."""
    return sorted([x.name for x in m.models.values() if x.ready])


def sizes(rig, setup=None):
    """{name: bytes that it holds alone, after setup}."""
    found = {}
    for name in NAMES:
        m = manager(rig, setup=setup)
        m.use(name)
        found[name] = rig.live()
        assert found[name] > 0
        m.release_all()
        assert rig.live() == 0, rig.live()
    return found


def _raised(kind, f, *args):
    try:
        f(*args)
    except kind as e:
        return e
    raise AssertionError("{} was not raised".format(kind.__name__))


# --- behaviour ---


def check_they_take_turns(rig):
    m = manager(rig)
    for name in "abca":
        net = m.use(name)
        assert resident(m) == [name] and net.raw is not None
        assert m.state == "loaded"
    assert m.switches == 4


def check_a_resident_model_is_handed_out_again(rig):
    m = manager(rig)
    net = m.use("a")
    raw = net.raw
    assert m.use("a") is net and net.raw is raw
    assert m.switches == 1


def check_the_least_recently_used_goes(rig):
    m = manager(rig, keep=2)
    for name in "abac":
        m.use(name)
    assert resident(m) == ["a", "c"], resident(m)
    m.use("b")
    assert resident(m) == ["b", "c"], resident(m)


def check_keep_of_the_port(rig):
    m = ModelManager(rig.start())
    for i in range(2):
        m.add(NAMES[i], rig.models[i][0], **rig.models[i][1])
        m.use(NAMES[i])
    assert resident(m) == (["b"] if rig.share == "evict" else ["a", "b"])


def check_pinned_models_stay(rig):
    m = ModelManager(rig.start(), keep=2)
    for i in range(3):
        m.add(NAMES[i], rig.models[i][0], pin=i == 0, **rig.models[i][1])
    for name in "abcb":
        m.use(name)
        assert "a" in resident(m)
    m.release("a")
    assert resident(m) == ["b"]


def check_using_holds_its_model(rig):
    m = manager(rig)
    with m.using("a") as net:
        e = _raised(NoRoom, m.use, "b")
        assert e.region == "slots" and m.state == "rolled_back" and "resident now: a" in str(e), e
        assert net.raw is not None and resident(m) == ["a"]
    m.use("b")
    assert resident(m) == ["b"]


def check_an_error_in_a_with_block_leaves_the_model(rig):
    m = manager(rig)
    mine = RuntimeError("mine")

    def block():
        with m.using("a"):
            raise mine

    assert _raised(RuntimeError, block) is mine
    assert resident(m) == ["a"]
    m.use("b")
    assert resident(m) == ["b"]


def check_a_released_net_refuses(rig):
    m = manager(rig)
    net = m.use("a")
    m.use("b")
    for call in (lambda: net.raw, net.require_handle, lambda: net.forward([1])):
        e = _raised(ModelReleasedError, call)
        assert "'a'" in str(e), e
    assert m.use("a") is net and net.raw is not None
    m.release("a")
    m.release("a")
    _raised(ModelReleasedError, net.require_handle)


def check_names(rig):
    m = manager(rig)
    _raised(ValueError, m.add, "a", rig.models[0][0])
    e = _raised(KeyError, m.use, "nobody")
    assert "['a', 'b', 'c', 'd']" in str(e), e
    m.use("a")
    m.forget("a")
    assert rig.live() == 0
    _raised(KeyError, m.use, "a")
    m.add("a", rig.models[0][0], **rig.models[0][1])
    m.use("a")
    _raised(KeyError, lambda: m.add("e", 1, fallback="nobody"))
    _raised(ValueError, ModelManager, rig.start(), 0)


def check_setup_runs_after_every_load(rig):
    seen = []
    m = manager(rig, setup=lambda net: seen.append((net.name, net.raw is not None)))
    for name in "aba":
        m.use(name)
    assert seen == [("a", True), ("b", True), ("a", True)], seen


def check_a_failing_setup_brings_the_previous_back(rig):
    for error in (ValueError("bad"), OSError(5), KeyError("own"), KeyboardInterrupt()):
        broken = []

        def setup(net):
            if net.name == "b" and not broken:
                broken.append(1)
                raise error

        m = manager(rig, setup=setup)
        net = m.use("a")
        e = _raised(type(error), m.use, "b")
        assert tells(e, error), e
        assert m.state == "rolled_back" and resident(m) == ["a"] and net.raw is not None
        assert e is error or "resident now: a, as before" in str(e), e
        if isinstance(error, OSError):
            assert e.args[0] == 5
        m.use("b")
        assert m.state == "loaded" and resident(m) == ["b"]


def check_a_setup_that_never_works(rig):
    def setup(net):
        if net.name != "c" and m.switches:
            raise OSError(5, "no")

    m = manager(rig, setup=setup)
    m.use("a")
    e = _raised(OSError, m.use, "b")
    assert m.state == "empty" and resident(m) == [] and rig.live() == 0
    assert "resident now: none" in str(e), e
    m.use("c")
    assert resident(m) == ["c"]


def check_the_manager_in_a_with_block(rig):
    with manager(rig, keep=2) as m:
        m.use("a")
        m.use("b")
    assert rig.live() == 0 and resident(m) == []


def check_status(rig):
    m = manager(rig)
    m.use("a")
    m.use("b")
    lines = []
    found = m.status(lines.append)
    rows = {r["name"]: r for r in found["models"]}
    assert (
        rows["b"]["is"] == "resident"
        and rows["a"]["is"] == "out"
        and rows["c"]["measured"] is None
    )
    assert rows["a"]["order"] == 1 and rows["b"]["order"] == 2
    assert found["switches"] == 2 and found["state"] == "loaded"
    assert [x for x in lines if x.startswith("*b")] and "2 switches" in "".join(lines), lines


# --- the forecast ---


def _count(port, name):
    """A list that gets a 1 for each call of a method of the port from now on."""
    calls = []
    plain = getattr(port, name)

    def counted(*args, **how):
        calls.append(1)
        return plain(*args, **how)

    setattr(port, name, counted)
    return calls


def _promised(cost):
    """Whether a Cost says what is enough, not what is likely."""
    return cost.certainty in ("exact", "at most")


def _experienced(rig, keep=1, margin=None):
    """A manager that has loaded each model once, so that what only a load tells is known."""
    m = manager(rig, keep, None, margin)
    for name in NAMES:
        m.use(name)
        m.release(name)
    return m


def check_the_forecast_is_what_stays(rig):
    """`need` is what the board counts, as far as `certainty` promises, and `peak` has it in; the
    load was measured."""
    m = manager(rig)
    for name in NAMES:
        cost = m.use(name).cost
        need = sum(cost.need.values())
        peak = sum([cost.peak[region] for region in cost.need])
        live = rig.live()
        row = [r for r in m.status(str)["models"] if r["name"] == name][0]
        took = row["measured"]
        text = "{}: need {}, peak {}, on the board {}, measured {}".format(
            name, need, peak, live, took
        )
        assert took, text
        if cost.certainty == "exact":
            assert need == took and live <= need <= live + _HEADERS, text
            assert need <= peak, text
        elif cost.certainty == "at most":
            assert live <= peak, text
        elif cost.certainty == "bound":
            assert need <= took, text


def check_the_last_check_is_safe(rig):
    """Without a margin check_fit() agrees where the peak is free. The least with which it agrees
    is found: there the load succeeds, and with a byte less none is tried."""
    for name in NAMES:
        m = _experienced(rig, 1, 0)
        port, cost = m.port, m.models[name].cost
        low, high = 0, sum([cost.peak[region] for region in cost.need])
        rig.fill(high)
        e = port.check_fit(cost)
        assert e is None, "{}: the peak of {} bytes is free: {}".format(name, high, e)
        while high - low > 1:
            middle = (low + high) // 2
            rig.fill(middle)
            if port.check_fit(cost) is None:
                high = middle
            else:
                low = middle
        rig.fill(high)
        try:
            m.use(name)
        except NoRoom as e:
            text = "{}: check_fit() agrees with {} bytes free, load() refuses: {}"
            assert not _promised(cost), text.format(name, high, e)
        m.release_all()
        if low:
            rig.fill(low)
            loads = _count(port, "load")
            e = _raised(NoRoom, m.use, name)
            assert not loads and e.region and m.state == "rolled_back", e
        assert rig.live() == 0, rig.live()


def check_a_refusal_for_memory_frees_one_more(rig):
    """What the forecast did not see: the runtime refuses a load once for want of memory."""
    point, error = rig.refusal
    m = manager(rig, keep=2)
    m.use("a")
    rig.faults.clear()
    m.use("b")
    k = rig.faults.names.index(point) + 1
    m = manager(rig, keep=2)
    m.use("a")
    rig.faults.clear()
    rig.faults.fail(k, error)
    try:
        m.use("b")
    except Exception as e:
        text = "where the runtime has no memory load() has to raise NoRoom: {!r}"
        raise AssertionError(text.format(e))
    rig.faults.clear()
    assert m.state == "loaded" and resident(m) == ["b"], (m.state, resident(m))


def _by_size(m):
    """(names, smallest need first; {name: bytes of its need})."""
    need = {name: sum(m.models[name].cost.need.values()) for name in NAMES}
    return sorted(NAMES, key=lambda name: need[name]), need


def check_what_goes_makes_room(rig):
    """Beside the largest model half of what the smallest keeps is missing: the largest has to go,
    and is counted as gone before it does."""
    m = _experienced(rig, 2, 0)
    names, need = _by_size(m)
    small, large = names[0], names[3]
    m.use(large)
    cost = m.models[small].cost
    rig.fill(max(0, sum([cost.peak[region] for region in cost.need]) - need[small] // 2))
    m.use(small)
    assert resident(m) == [small], resident(m)


def check_nothing_is_freed_in_vain(rig):
    """The pinned model alone could make the room: the other one stays."""
    m = _experienced(rig, 3)
    names, need = _by_size(m)
    small, pinned, large = names[0], names[1], names[3]
    m.models[pinned].pin = True
    m.use(pinned)
    m.use(small)
    before = resident(m)
    rig.fill((need[large] - need[small]) // 2)
    freed = _count(m.port, "unload")
    _raised(NoRoom, m.use, large)
    assert not (freed and _promised(m.models[large].cost)), "{} was freed in vain".format(small)
    assert m.state == "rolled_back" and resident(m) == before, (m.state, resident(m))


def check_many_switches(rig, rounds=25):
    m = manager(rig)
    first = {}
    for i in range(rounds):
        for name in NAMES:
            m.use(name)
            live = rig.live()
            assert live == first.setdefault(name, live), (i, name)
    m.release_all()
    assert rig.live() == 0


CHECKS = (
    check_they_take_turns,
    check_a_resident_model_is_handed_out_again,
    check_the_least_recently_used_goes,
    check_keep_of_the_port,
    check_pinned_models_stay,
    check_using_holds_its_model,
    check_an_error_in_a_with_block_leaves_the_model,
    check_a_released_net_refuses,
    check_names,
    check_setup_runs_after_every_load,
    check_a_failing_setup_brings_the_previous_back,
    check_a_setup_that_never_works,
    check_the_manager_in_a_with_block,
    check_status,
    check_the_forecast_is_what_stays,
    check_the_last_check_is_safe,
    check_a_refusal_for_memory_frees_one_more,
    check_what_goes_makes_room,
    check_nothing_is_freed_in_vain,
    check_many_switches,
)


# --- every fault point ---


# Each scenario is (name, keep, names used before, what is tried, whether a setup that passes a
# fault point runs).
SCENARIOS = (
    ("first load", 1, "", "a"),
    ("switch", 1, "a", "b"),
    ("two go for one", 2, "ab", "c"),
    ("back and forth", 1, "ab", "a"),
    ("release", 1, "a", "-a"),
    ("release all", 2, "ab", "--"),
)


def _act(m, what):
    if what == "--":
        m.release_all()
    elif what[0] == "-":
        m.release(what[1:])
    else:
        m.use(what)


def prepare(rig, scenario, setup=None):
    """A manager in the state before the part under test."""
    m = manager(rig, scenario[1], setup)
    for name in scenario[2]:
        m.use(name)
    rig.faults.clear()
    return m


def tells(raised, error):
    """Is it the error itself, or one of its class with its text? A refusal of the platform is a
    NoRoom with its code or a KModelError."""
    refused = isinstance(raised, KModelError) or (
        isinstance(raised, NoRoom) and (raised.code is not None or isinstance(error, MemoryError))
    )
    same = refused or type(raised) is type(error)
    said = error.args[-1] if isinstance(error, OSError) and error.args else error
    return raised is error or (same and str(said) in str(raised))


def verify(rig, m, scenario, size, before, error, raised):
    """The promises after a failure (or none): nothing leaked, a documented state, the cause kept,
    the next use works."""
    what = scenario[3]
    now = resident(m)
    loaded = [x.name for x in m.models.values() if x.handle is not None]
    live = rig.live()
    low, high = sum([size[n] for n in now]), sum([size[n] for n in loaded])
    assert low <= live <= high, ("leak", low, live, high)
    assert len(loaded) <= scenario[1], ("too many", loaded)
    if raised is not None:
        memory = isinstance(raised, NoRoom) and type(error) is type(rig.refusal[1])
        told = tells(raised, error) or (memory and str(error) in str(raised))
        assert told, ("cause lost", raised)
    if what[0] != "-":
        if raised is None:
            assert what in now and m.state == "loaded", ("new", now)
        elif m.state == "loaded":  # stopped before it began, or when all was done
            assert what in now or now == before, ("new", now)
        elif m.state == "rolled_back":
            assert now == before, ("previous", now, before)
        else:
            assert m.state == "empty" and what not in now, (m.state, now)
    m.use(what[-1] if what[-1] != "-" else "a")
    for name in "da":  # a switch frees what a failure left half gone
        m.use(name)
        assert name in resident(m)
        live = rig.live()
        assert live == sum([size[x] for x in resident(m)]), ("leak after the next use", live)
    m.release_all()
    assert rig.live() == 0, ("leak at the end", rig.live())


def sweep(rig, exceptions, size=None, setup=None, scenarios=SCENARIOS):
    """Fails every fault point of every scenario, once and for ever, with every exception;
    {scenario: points tried}. `size` is what sizes(rig, setup) returns, for who has it already."""
    size = size or sizes(rig, setup)
    done = {}
    for scenario in scenarios:
        m = prepare(rig, scenario, setup)
        _act(m, scenario[3])
        points = rig.faults.count
        m.release_all()
        assert points, scenario
        tried = 0
        for k in range(1, points + 1):
            for error in exceptions:
                for forever in (False, True):
                    m = prepare(rig, scenario, setup)
                    before = resident(m)
                    rig.faults.fail(k, error, forever)
                    raised = None
                    try:
                        _act(m, scenario[3])
                    except BaseException as e:
                        raised = e
                    assert rig.faults.count >= k
                    rig.faults.clear()
                    try:
                        verify(rig, m, scenario, size, before, error, raised)
                    except Exception as e:
                        text = "{}, point {}, {!r}, {}: {!r}"
                        raise AssertionError(text.format(scenario[0], k, error, forever, e))
                    tried += 1
        done[scenario[0]] = tried
    return done
