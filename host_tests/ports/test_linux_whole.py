# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Work that signals do not cut short, the lock that is had in turn, and waiting for room: on the
stand-in; on Rockchip's own runtimes in host_tests/real."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import paths
import pytest
from maixmem import KModelError, NoRoom
from maixmem_linux.turn import ForkError, Turn
from maixmem_linux.whole import in_caller, whole
from maixmem_models import ModelManager
from rknn_raw import in_threads, small


class Stop(BaseException):
    """What a signal's handler raises."""


@pytest.fixture
def alarm():
    """Calls that have SIGALRM raise Stop; the handler that was there comes back."""

    def stop(number, frame):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda: os.kill(os.getpid(), signal.SIGALRM)
    signal.signal(signal.SIGALRM, before)


def test_work_ends_before_the_interrupt_is_raised(alarm):
    steps = []

    @whole
    def work():
        steps.append("begin")
        alarm()
        time.sleep(0.05)
        steps.append("end")

    with pytest.raises(Stop):
        work()
    assert steps == ["begin", "end"]


def test_what_it_returns_and_raises_is_the_callers():
    assert whole(lambda a, b: (a, b, threading.get_ident()))(1, b=2)[:2] == (1, 2)
    error = ValueError("no")

    def fails():
        raise error

    with pytest.raises(ValueError) as e:
        whole(fails)()
    assert e.value is error
    assert whole(whole(lambda: 3))() == 3


def test_a_function_of_the_program_runs_in_its_own_thread_and_can_be_stopped(alarm):
    told = []

    def setup():
        told.append(threading.get_ident())
        alarm()
        time.sleep(60)

    @whole
    def work():
        try:
            in_caller(setup)()
        finally:
            told.append("taken back")

    with pytest.raises(Stop):
        work()
    assert told == [threading.get_ident(), "taken back"]


def test_waiting_for_another_thread_can_be_stopped(alarm):
    turn, held, go = Turn("it"), threading.Event(), threading.Event()

    def other():
        with turn:
            held.set()
            go.wait(20)

    @whole
    def work():
        with turn:
            raise AssertionError("the other thread has it")

    thread = threading.Thread(target=other)
    thread.start()
    assert held.wait(20)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(Stop):
        work()
    go.set()
    thread.join(20)
    assert turn.acquire(0) and turn.depth == 1
    turn.release()
    assert not turn.taken


def test_a_turn_is_had_in_the_order_of_coming():
    turn, served, coming = Turn("it"), [], threading.Lock()

    def thread(i):
        with turn:
            served.append(i)

    turn.acquire()
    threads = []
    for i in range(20):
        threads.append(threading.Thread(target=thread, args=(i,)))
        threads[-1].start()
        while len(turn._line) < i + 2:
            time.sleep(0.001)
    turn.release()
    for each in threads:
        each.join(20)
    assert served == list(range(20)) and not turn.taken and not coming.locked()


def test_a_turn_for_so_many_seconds():
    turn = Turn("it")
    with turn:
        assert in_threads([lambda: turn.acquire(0.01) and 1 / 0]) == []
        assert len(turn._line) == 1


def test_one_interrupt_at_many_bytecodes_loses_nothing(tmp_path: Path):
    """The program that host_tests/real runs on Rockchip's own library."""
    script = paths.ROOT / "host_tests" / "real" / "rknn_interrupts.py"
    command = [sys.executable, str(script), str(paths.ROOT), "1.6.0", str(tmp_path), "30"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    rows = [json.loads(line[2:]) for line in done.stdout.splitlines() if line[:2] == "> "]
    assert rows[1] == ["bytecodes", 30, 30, []] and rows[2] == ["signals", 30, 30, []]
    assert rows[3][3] == [] and rows[-1][:4] == ["end", 0, 0, 0]
    assert rows[-1][4] <= 3  # threads: interrupts leave none behind


def test_a_forked_child_is_refused_by_name(boards):
    raw, p = boards()
    m = ModelManager(p)
    m.add("a", small("a"))
    model = m.use("a").raw
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        names = []
        calls = (p.close, m.release_all, m.use("a").raw.execute, model.__enter__)
        for call in (*calls, lambda: p.load(small("b")), model.inputs[0].view):
            try:
                call()
                names.append("went through")
            except BaseException as e:
                names.append(f"{type(e).__name__} {'from which this one was forked' in str(e)}")
        os.write(tell, json.dumps(names).encode())
        os._exit(0)
    os.close(tell)
    with os.fdopen(told) as f:
        assert json.load(f) == [f"{ForkError.__name__} True"] * 6
    os.waitpid(child, 0)
    assert m.use("a").run(bytes(64))
    m.release_all()
    assert raw.npu.live == 0


def test_fifty_threads_and_room_for_one(boards):
    """Each is served, in the order in which they came."""
    raw, p = boards(budget=160_000)
    m = ModelManager(p, margin=0)
    for i in range(50):
        m.add(i, small(str(i % 10), weight=40960), shared=False)
    came, served = [], []
    line = vars(p)["_guard"].line

    def thread(i):
        with m.using(i, wait=60) as net:
            served.append(i)
            net.run(bytes(64))
            time.sleep(0.002)

    threads = []
    with m.using(0):  # nobody else has room
        for i in range(1, 50):
            threads.append(threading.Thread(target=thread, args=(i,)))
            threads[-1].start()
            while len(line._line) < i:
                time.sleep(0.001)
            came.append(i)
        assert served == []
    for each in threads:
        each.join(60)
        assert not each.is_alive()
    assert served == came and not line.taken
    m.release_all()
    assert raw.npu.live == 0


def test_waiting_for_room_ends(boards, alarm):
    raw, p = boards(budget=160_000)
    m = ModelManager(p, margin=0)
    for name in "ab":
        m.add(name, small(name, weight=40960), shared=False)
    with m.using("a"):
        with pytest.raises(NoRoom), m.using("b", wait=0.05):
            pass
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Stop), m.using("b", wait=60):
            pass
    with m.using("b", wait=5) as net:
        assert net.run(bytes(64))
    assert not vars(p)["_guard"].line.taken
    m.release_all()
    assert (raw.npu.live, p.used) == (0, 0)


def test_an_option_that_there_is_not_is_named(boards):
    _, p = boards()
    with pytest.raises(TypeError, match=r"not loaded with share=.*Next: shared="):
        p.load(small("a"), share=False)
    with pytest.raises(TypeError, match="not loaded with zzz="):
        ModelManager(p).add("a", small("a"), zzz=1)


def test_dynamic_is_held_to_the_budget(boards):
    """It is reckoned before, and what the runtime took all the same goes again."""
    raw, p = boards(budget=150_000)
    data = small("a", weight=40960, internal=200_000)
    assert p.inspect(data, dynamic=True).refuse
    data = small("a", weight=8192, internal=65536)
    cost = p.inspect(data, dynamic=True)
    assert cost.certainty == "at most" and cost.peak["npu"] > 65536 + 8192
    m = p.load(data, dynamic=True)
    assert raw.npu.live <= p.used <= 150_000 and raw.npu.live <= cost.peak["npu"]
    with pytest.raises(NoRoom):
        p.load(data, dynamic=True)
    p.unload(m)
    assert (raw.npu.live, p.used) == (0, 0)


def test_a_file_that_changed_is_inspected_again(boards, tmp_path: Path):
    """One that never fitted was replaced by a smaller; one that fitted by a larger."""
    _, p = boards(budget=150_000)
    path = tmp_path / "a.rknn"
    path.write_bytes(small("a", internal=400_000))
    m = ModelManager(p, margin=0)
    m.add("a", str(path))
    with pytest.raises(KModelError, match="417792 bytes of NPU memory"):
        m.use("a")
    path.write_bytes(small("a"))
    assert m.use("a").run(bytes(64))
    m.release("a")
    path.write_bytes(small("a", internal=400_000))
    with pytest.raises(KModelError, match="417792 bytes of NPU memory"):
        m.use("a")


def test_what_the_npu_can_still_give(boards):
    """Without a budget nobody tells: the report says so, and a load is held to the addresses of
    the NPU's IOMMU."""
    raw, p = boards(capacity=16 << 30)
    row = [r for r in p.regions() if r.name == "npu"][0]
    assert (row.total, row.free) == (None, None)
    assert p.free_npu() == p.room("npu") == 4 << 30
    assert [r for r in boards(budget=1 << 20)[1].regions() if r.name == "npu"][0].free == 1 << 20


def test_a_model_of_rknn3_is_refused_by_name(boards):
    _, p = boards()
    with pytest.raises(KModelError, match="a model of RKNN3 for rk1828"):
        p.load(small("a", targets=("rk1828",)))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("wait", [None, 5])
def test_an_interrupt_leaves_no_pin_and_no_lock(boards, wait: float | None):
    """At every ninth bytecode of a with block of using(), its begin and its end included."""
    p = boards(budget=160_000)[1]
    m = ModelManager(p, margin=0)
    for name in "ab":
        m.add(name, small(name, weight=40960), shared=False)
    guard = vars(p)["_guard"]
    at = met = 0
    count = 1

    def opcodes(frame, event, arg):
        nonlocal count
        frame.f_trace_opcodes = True
        if event == "opcode":
            count += 1
            if count == at:
                raise Stop
        return opcodes

    while count >= at:
        at, count = at + 9, 0
        m.release_all()
        try:
            sys.settrace(opcodes)
            with m.using("a", wait=wait):
                pass
            sys.settrace(None)
        except Stop:
            met += 1
            sys.settrace(None)
        with m.using("b"):  # there is room for one
            assert [x.pin_count for x in m.models.values()] == [0, 1], at
        assert not guard.line.taken and not guard._lock.taken, at
    assert met > 30
