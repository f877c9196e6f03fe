# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Every fault point of load, switch, unload, growth and dup on RKNN, failing once and for ever, in
four ways (kits/fault_points.py: which at a time)."""

from __future__ import annotations

import pytest
from fault_points import failures
from maixmem import NoRoom
from maixmem_models import ModelManager
from maixmem_rknn import read_file
from maixmem_rknn.api import pages
from rknn_raw import PAGE, Crash, Raw, answer, small

DATA = {
    "a": small("a"),
    "b": small("b", weight=12288, internal=30000),
    "big": small("big", internal=150000),
    "slave": small("slave", blob=11000),
}
MINI = {
    "a": small("a", internal=150000, targets=("rv1106",)),
    "b": small("b", weight=12288, internal=30000, targets=("rv1106",)),
    "c": small("c", internal=90000, targets=("rv1106",)),
}
# of which a runtime before 1.5.2 that runs out of memory leaves a context which nobody can destroy
OLDER = {
    "a": small("a", version=2),
    "b": small("b", version=2, weight=12288, internal=30000),
    "big": small("big", version=2, internal=150000),
}
# a code is returned without effect, an exception comes as a signal does: when the call has
# returned
WAYS = (-1, -4, KeyboardInterrupt, MemoryError)


class Scene:
    """A board with the port, and models in a known state: `have` maps names to handles."""

    def __init__(self, profile="rk3588", version="1.6.0", **options):
        self.raw = Raw(profile, version=version)
        self.port = self.raw.plug(**options)
        self.data = MINI if profile == "rv1106" else DATA if version == "1.6.0" else OLDER
        self.have = {}

    def load(self, name, **how):
        self.have[name] = self.port.load(self.data[name], **how)

    def unload(self, name):
        handle = self.have.pop(name)
        self.port.unload(handle)

    def run_all(self):
        """Every model computes what it should."""
        for name, model in self.have.items():
            data = self.data[name.split(".")[0]]
            assert model.run(name[:1].encode() * 64) == answer(data, name[:1].encode() * 64), name


def scene_first(s):
    return lambda: s.load("a")


def scene_second(s):
    s.load("a")
    return lambda: s.load("b")


def scene_growth(s):
    s.load("a")
    s.load("b")
    return lambda: s.load("big")


def scene_private(s):
    s.load("a")
    return lambda: s.load("b", shared=False)


def scene_slave(s):
    s.load("a")
    return lambda: s.load("slave", master=s.have["a"])


def scene_dup_first(s):
    s.load("b")
    return lambda: s.load("a", dup=True)


def scene_dup(s):
    s.load("a", dup=True)
    return lambda: s.have.update({"a.2": s.port.dup(s.have["a"])})


def scene_unload_only(s):
    s.load("a")
    return lambda: s.unload("a")


def scene_unload_owner(s):
    for name in ("big", "a", "b"):
        s.load(name)
    return lambda: s.unload("big")


def scene_unload_other(s):
    for name in ("big", "a", "b"):
        s.load(name)
    return lambda: s.unload("b")


def scene_unload_dup(s):
    s.load("a", dup=True)
    s.have["a.2"] = s.port.dup(s.have["a"])
    return lambda: s.unload("a.2")


def scene_switch(s):
    s.load("big")
    s.load("a")

    def act():
        s.unload("big")
        s.load("b")

    return act


def scene_run(s):
    s.load("a")
    s.load("b")
    return s.run_all


scene_older_first, scene_older_second = scene_first, scene_second
scene_older_growth, scene_older_dup = scene_growth, scene_dup_first


def scene_mini_first(s):
    s.load("a")
    s.unload("a")
    return lambda: s.load("a")


def scene_mini_second(s):
    s.load("a")
    return lambda: s.load("b")


def scene_mini_unload_only(s):
    s.load("a")
    return lambda: s.unload("a")


def scene_mini_unload_owner(s):
    """The owner of a block that cannot move goes first."""
    s.load("a")
    s.load("b")
    return lambda: s.unload("a")


SCENES = {
    name[len("scene_") :]: f for name, f in sorted(globals().items()) if name.startswith("scene_")
}


def board_of(name):
    """(profile, version) of the board that a scene is on."""
    kind = name.partition("_")[0]
    return {"mini": ("rv1106", "1.6.0"), "older": ("rk3588", "1.5.0")}.get(
        kind, ("rk3588", "1.6.0")
    )


def check_after(s, failed):
    """Nothing leaked beyond what is counted, what was resident works, and the next load does."""
    faults = s.raw.runtime.faults
    refused_release = any(n in ("rknn_destroy", "rknn_destroy_mem") for n in failed)
    faults.clear()
    s.run_all()
    assert set(s.port.models) == set(s.have.values())
    over = s.port.used - s.raw.npu.live
    # never less than what is taken; of a mini chip we count the copy of the weights that it had
    # while loading
    contexts = len(s.have) + bool(s.port.arena.deferred_bytes)
    spare = 2 * PAGE + (4 * PAGE if s.port.lib.mini else 0)
    if s.data is OLDER:
        spare += max([pages(read_file(data).graph) for data in OLDER.values()])  # counted whole
    # of a slave the runtime counts nothing of its file, which is counted whole then
    slaves = len([m for m in s.port.models if m.master and not m.can_dup]) * 8 * PAGE
    assert 0 <= over <= contexts * spare + slaves + s.port.lib.leaked_bytes or refused_release, (
        over
    )
    fresh = "b" if "b" not in s.have else "a" if "a" not in s.have else None
    if fresh:
        s.load(fresh)
    s.run_all()
    for name in reversed(list(s.have)):
        s.unload(name)
    left = s.raw.npu.live
    lost = s.port.lib.leaked_bytes
    assert left <= lost, (left, lost)
    # an init that ran out of memory keeps what it had: to end it may end the process
    assert bool(left) <= (refused_release or s.port.lib.leaked_contexts > 0), (left, failed)
    assert s.raw.runtime.leaks() == [] or refused_release
    assert s.port.arena.size == 0 or refused_release


# Between the port's question to the driver and rknn_init another program can take the memory:
# newer files end the process.
def in_init(crash, point):
    """1 for an end that no caller can prevent; raises any other."""
    ends = ("rknn_init without memory", "rknn_dup_context without memory")
    if not point.startswith("alloc ") or not [text for text in ends if text in str(crash)]:
        raise crash
    return 1


@pytest.mark.parametrize("name", SCENES)
def test_every_fault_point(capsys, name):
    build, board = SCENES[name], board_of(name)
    s = Scene(*board)
    act = build(s)
    faults = s.raw.runtime.faults
    faults.clear()
    act()
    points, names = faults.count, list(faults.names)
    assert points > 0
    runs = ended = 0
    for k, exc, forever in failures(points, WAYS):
        s = Scene(*board)
        act = build(s)
        faults = s.raw.runtime.faults
        faults.clear()
        faults.fail(k, exc, forever)
        try:
            act()
        except (Exception, KeyboardInterrupt) as e:
            assert not isinstance(e, AssertionError), (k, exc, e)
        except Crash as e:
            ended += in_init(e, names[k - 1])
            continue
        assert faults.count >= k
        failed = [names[k - 1]] if isinstance(exc, int) else []
        check_after(s, failed)
        runs += 1
    with capsys.disabled():
        print(
            f"\n  rknn {name}: {points} fault points, {runs} runs, "
            f"{ended} ended by the runtime, in the others nothing lost but what it refused to "
            f"take back, and that is counted"
        )


# --- the same through the manager ---


def manager_scene():
    """Models of which two fit: use() of "big" after two others, or of a third after "big", has to
    evict."""
    s = Scene(budget=210_000)
    m = ModelManager(s.port, margin=0)
    for name, data in DATA.items():
        m.add(name, data)
    return s, m


_RELEASES = ("rknn_destroy", "rknn_destroy_mem")


def use(m, name):
    data = DATA[name]
    assert m.use(name).run(b"x" * 64) == answer(data, b"x" * 64)


def nothing_uncounted(s, m, names, refused):
    """All models run again, but for what is missing; what remains at the end is counted: a release
    that was refused, a starved context (see Runtime.init)."""
    for name in names:
        try:
            use(m, name)
        except NoRoom:
            assert (refused or s.port.lib.leaked_contexts) and s.port.lib.leaked_bytes
    m.release_all()
    assert s.raw.npu.live <= s.port.lib.leaked_bytes
    assert s.raw.npu.live == 0 or refused or s.port.lib.leaked_contexts


@pytest.mark.parametrize(
    "first, then", [((), "a"), (("a",), "b"), (("a", "b"), "big"), (("big", "a"), "b")]
)
def test_every_fault_point_of_use(capsys, first, then):
    s, m = manager_scene()
    for name in first:
        use(m, name)
    s.raw.runtime.faults.clear()
    m.use(then)
    points = s.raw.runtime.faults.count
    names = list(s.raw.runtime.faults.names)
    runs = abandoned = 0
    for k, exc, forever in failures(points, WAYS):
        s, m = manager_scene()
        for name in first:
            use(m, name)
        faults = s.raw.runtime.faults
        faults.clear()
        faults.fail(k, exc, forever)
        try:
            m.use(then)
        except Crash as e:
            in_init(e, names[k - 1])
            continue
        except (Exception, KeyboardInterrupt):
            assert m.state in ("rolled_back", "empty")
            if m.state == "rolled_back":
                assert len(s.port.models) == len(first)
        else:
            assert m.state == "loaded"
        faults.clear()
        refused = isinstance(exc, int) and names[k - 1] in _RELEASES
        nothing_uncounted(s, m, (then, *first), refused)
        abandoned += s.port.lib.leaked_contexts
        runs += 1
    with capsys.disabled():
        print(
            f"\n  rknn use({then!r}) after {first}: {points} fault points, {runs} runs, "
            f"{abandoned} starved contexts left alone and counted, nothing else leaked"
        )
