# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One interrupt in each run of a program that loads, switches, releases and closes. Is every byte
still in the books? Runs in one process, so that the runtime is loaded once:

"bytecodes"  raised in the main thread, at positions spread evenly over all its bytecodes
"signals"    a signal, when the thread that does the work (maixmem_linux.whole) is at positions
             spread evenly over all of its bytecodes
"moments"    a signal by an alarm, at moments spread over the time of the program

rknn_interrupts.py ROOT VERSION RUNS [SIGNALS], or ROOT VERSION FOLDER RUNS on the stand-in: as
many of the first kind, as many of the second (else as the first), a tenth of that by alarms.
"""

import _thread
import bisect
import functools
import itertools
import os
import signal
import sys
import threading
import time

runs, *signals = [int(word) for word in sys.argv[3:] if word.isdigit()]
sys.argv = sys.argv[:3] + [word for word in sys.argv[3:] if not word.isdigit()]

from rknn_board import NEWER, board, tell  # noqa: E402

there, version = board()
import maixmem_rknn  # noqa: E402
from maixmem_linux import whole  # noqa: E402
from maixmem_models import ModelManager  # noqa: E402

SECOND = "newer" if version >= NEWER["newer"][2] else "two"
MAIN = threading.get_ident()


class Stop(BaseException):
    """What an interrupt raises."""


class Counter:
    """The calls of one thread within a program, of each piece of work: [work, call, bytecodes]."""

    def __init__(self):
        self.calls = []
        self.works = 0

    def begin(self):
        """What sys.settrace is given for the next piece of work."""
        self.works += 1
        self.first = len(self.calls)
        return self.trace

    def trace(self, frame, event, arg):
        """What sys.settrace calls as a function begins, or a generator goes on."""
        frame.f_trace_opcodes = True
        mine = [self.works - 1, len(self.calls) - self.first, 0]
        self.calls.append(mine)

        def count(frame, event, arg):
            if event == "opcode":
                mine[2] += 1
            return count

        return count


class Point:
    """Acts at one bytecode of a thread: that work, that call, that bytecode of it. Nothing
    else is traced, so that a run costs little more than the program."""

    def __init__(self, act, work, call, bytecode):
        self.act = act
        self.work = work
        self.call = call
        self.left = bytecode
        self.works = 0
        self.calls = 0
        self.reached = False

    def begin(self):
        """What sys.settrace is given for the next piece of work."""
        self.works += 1
        return self.trace if self.works - 1 == self.work else None

    def trace(self, frame, event, arg):
        """What sys.settrace calls as a function begins, or a generator goes on."""
        self.calls += 1
        if self.calls - 1 != self.call:
            return None
        frame.f_trace_opcodes = True
        return self.step

    def step(self, frame, event, arg):
        """What is called within that call."""
        if event == "opcode":
            if not self.left:
                self.reached = True
                self.act()
            self.left -= 1
        return self.step


def in_main(tracer, program):
    """The program, and `tracer` in the main thread."""
    sys.settrace(tracer.begin())
    try:
        program()
    finally:
        sys.settrace(None)


def in_work(tracer, program):
    """The program, and `tracer` in the thread that works for the main one."""
    before = whole._Task.run

    def run(task):
        sys.settrace(tracer.begin())
        try:
            before(task)
        finally:
            sys.settrace(None)

    whole._Task.run = run
    try:
        program()
        time.sleep(0.05)  # a signal may come in the last step
    finally:
        whole._Task.run = before


def interrupt():
    raise Stop


def send():
    sys.settrace(None)  # that thread goes on while the signal is on its way
    signal.pthread_kill(MAIN, signal.SIGUSR1)


def stopped(run, *arguments):
    """Whether an interrupt ended it."""
    try:
        run(*arguments)
    except Stop:
        return True
    return False


def at_bytecode(within, act, program, place):
    """Runs the program with an interrupt there. A run may be a little shorter than the one that
    was counted: then at the beginning of the last call of that work."""
    point = Point(act, *place)
    met = stopped(within, point, program)
    if point.reached:
        return met
    return stopped(within, Point(act, point.work, min(point.call, point.calls - 1), 0), program)


def at_moment(program, seconds):
    """Runs the program with an alarm in so many seconds."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return stopped(program)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Scene:
    """A port, a manager with three models for two places, and a program."""

    def __init__(self):
        self.port = maixmem_rknn.Port(there.lib, soc="rk3588", budget=64 << 20)
        self.models = ModelManager(self.port, keep=2, margin=0)
        self.models.add("a", there.path("two"), setup=lambda net: net.raw.inputs)
        self.models.add("b", there.path(SECOND))
        self.models.add("own", there.path("two"), dup=True)

    def program(self):
        self.models.use("a")
        self.models.use("b")
        self.models.use("own")
        self.models.release("b")
        model = self.port.load(there.path("two"), shared=False)
        self.port.unload(model)
        self.models.use("a")
        self.models.release_all()
        self.port.close()

    def end(self):
        """What is wrong after an interrupt."""
        wrong = []
        over = self.port.used - there.live()
        allowed = [OVER[kind(model)] for model in self.port.models]
        if over != sum(allowed):
            wrong.append(["used", self.port.used, there.live(), allowed])
        held = [net.handle for net in self.models.loaded()]
        if [model for model in held if model not in self.port.models]:
            wrong.append(["handles", len(held), len(self.port.models)])
        try:
            self.models.use("a")
            self.models.use("b")
        except Exception as e:
            wrong.append(["use", repr(e)])
        self.models.release_all()
        self.port.close()
        left = (there.live(), there.held(), self.port.used, self.port.lib.leaked_bytes)
        if any(left):
            wrong.append(["left", *left])
        return wrong


def kind(model):
    return model.name, model.can_dup, model in model.arena.users


# The port counts at most: the runtime tells the sum of its requests, of which the driver takes
# whole pages. How much more that is for each kind of load, alone: an interrupt must not change it.
OVER = {}


def measure_over():
    port = Scene().port
    for name, how in (
        ("two", {}),
        (SECOND, {}),
        ("two", {"dup": True}),
        ("two", {"shared": False}),
    ):
        model = port.load(there.path(name), **how)
        OVER[kind(model)] = port.used - there.live()
        port.unload(model)


# One scene goes on after each interrupt, as a notebook does, until something of it is wrong.
def sweep(name, places, run):
    met, found, scene = 0, [], Scene()
    for done, place in enumerate(places):
        met += run(scene.program, place)
        wrong = scene.end()
        if wrong:
            found += [[place, *what] for what in wrong]
            scene = Scene()
        if done % 250 == 249:
            print(name, done + 1, met, found[:1], flush=True)  # for who waits
    tell(name, len(places), met, found[:5])


def spread(n, calls):
    """`n` bytecodes (work, call, which of it), evenly over all of these calls."""
    ends = list(itertools.accumulate(length for _, _, length in calls))
    places = []
    for k in range(n):
        at = k * ends[-1] // n
        which = bisect.bisect_right(ends, at)
        work, call, length = calls[which]
        places.append((work, call, at - ends[which] + length))
    return places


def stop(number, frame):
    raise Stop


def count(within):
    """The calls of an uninterrupted run, the second time: the first one imports."""
    for _ in range(2):
        counter, scene = Counter(), Scene()
        within(counter, scene.program)
        assert not scene.end()
    return counter.calls


signal.signal(signal.SIGALRM, stop)
signal.signal(signal.SIGUSR1, stop)
measure_over()
of_main, of_work = count(in_main), count(in_work)
scene, begin = Scene(), time.monotonic()
scene.program()
seconds = time.monotonic() - begin
assert not scene.end() and threading.active_count() == 1
lengths = [sum(length for _, _, length in calls) for calls in (of_main, of_work)]
tell("lengths", *lengths, len(OVER))
asked = signals[0] if signals else runs
sweep("bytecodes", spread(runs, of_main), functools.partial(at_bytecode, in_main, interrupt))
sweep("signals", spread(asked, of_work), functools.partial(at_bytecode, in_work, send))
sweep("moments", [seconds * (k + 0.5) * 10 / asked for k in range(asked // 10)], at_moment)
tell("end", there.live(), there.held(), there.bad(), _thread._count())
sys.stdout.flush()
os._exit(0)
