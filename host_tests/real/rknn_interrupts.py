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


class Opcodes:
    """Counts the bytecodes of one thread within a program, and does something in one of them."""

    def __init__(self, at=0):
        self.at = at
        self.count = 0

    def __call__(self, frame, event, arg):
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.count += 1
            if self.count == self.at:
                self.act()
        return self


class InMain(Opcodes):
    """An exception at a bytecode of the main thread."""

    def act(self):
        raise Stop

    def run(self, program):
        sys.settrace(self)
        try:
            program()
        except Stop:
            return True
        finally:
            sys.settrace(None)
        return False


class InWork(Opcodes):
    """A signal to the main thread at a bytecode of the thread that works for it."""

    def act(self):
        sys.settrace(None)  # that thread goes on while the signal is on its way
        signal.pthread_kill(MAIN, signal.SIGUSR1)

    def run(self, program):
        before = whole._Task.run

        def run(task):
            sys.settrace(self if self.count < self.at or not self.at else None)
            try:
                before(task)
            finally:
                sys.settrace(None)

        whole._Task.run = run
        try:
            program()
            time.sleep(0.05 if self.at else 0)  # it may come in the last step
        except Stop:
            return True
        finally:
            whole._Task.run = before
        return False


class Alarm:
    """A signal in so many seconds."""

    def __init__(self, seconds):
        self.seconds = seconds

    def run(self, program):
        try:
            signal.setitimer(signal.ITIMER_REAL, self.seconds)
            program()
        except Stop:
            return True
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return False


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
def sweep(name, positions, way):
    met, found, scene = 0, [], Scene()
    for done, at in enumerate(positions):
        met += way(at).run(scene.program)
        wrong = scene.end()
        if wrong:
            found += [[at, *what] for what in wrong]
            scene = Scene()
        if done % 250 == 249:
            print(name, done + 1, met, found[:1], flush=True)  # for who waits
    tell(name, len(positions), met, found[:5])


def spread(n, length):
    """`n` positions from 1 to `length`, evenly."""
    return [1 + k * length // n for k in range(n)]


def stop(number, frame):
    raise Stop


def length_of(way):
    """What an uninterrupted run counts, the second time: the first one imports."""
    for _ in range(2):
        counter, scene = way(), Scene()
        counter.run(scene.program)
        assert not scene.end()
    return counter.count


signal.signal(signal.SIGALRM, stop)
signal.signal(signal.SIGUSR1, stop)
measure_over()
in_main, in_work = length_of(InMain), length_of(InWork)
scene, begin = Scene(), time.monotonic()
scene.program()
seconds = time.monotonic() - begin
assert not scene.end() and threading.active_count() == 1
tell("lengths", in_main, in_work, len(OVER))
asked = signals[0] if signals else runs
sweep("bytecodes", spread(runs, in_main), InMain)
sweep("signals", spread(asked, in_work), InWork)
sweep("moments", [seconds * (k + 0.5) * 10 / asked for k in range(asked // 10)], Alarm)
tell("end", there.live(), there.held(), there.bad(), _thread._count())
sys.stdout.flush()
os._exit(0)
