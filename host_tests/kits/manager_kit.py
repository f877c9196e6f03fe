# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a ModelManager does on every port: checks that take a rig. For device and host tests, in
the device dialect.

    for check in manager_kit.CHECKS:
        check(rig)
    done = manager_kit.sweep(rig, exceptions)

A rig is a board and its port:
    start()     a fresh board; returns a new port
    models      [(source, how)], four that the port can load, all different, any two at a time
    live()      bytes that loaded models hold on the board, by the board's own account
    faults      the fault points of the board: fail(k, exc, forever), clear(), count
    share       share of the port
"""

from maixmem import KModelError, NoRoom
from maixmem_models import ModelManager, ModelReleasedError

NAMES = ("a", "b", "c", "d")


def manager(rig, keep=1, setup=None):
    """A manager on a fresh board that knows the rig's models by NAMES."""
    found = ModelManager(rig.start(), keep=keep)
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
        assert tells(raised, error), ("cause lost", raised)
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


def sweep(rig, exceptions, size, setup=None, scenarios=SCENARIOS):
    """Fails every fault point of every scenario, once and for ever, with every exception;
    {scenario: points tried}."""
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
                    except AssertionError as e:
                        raise AssertionError(
                            "{}, point {}, {!r}, {}: {}".format(scenario[0], k, error, forever, e)
                        )
                    tried += 1
        done[scenario[0]] = tried
    return done
