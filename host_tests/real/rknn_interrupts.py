# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One interrupt in each run of a program that loads, switches, releases and closes: at positions
spread evenly over its bytecodes, and at moments spread over its time. Is every byte still in the
books?

rknn_interrupts.py ROOT VERSION RUNS, or ROOT VERSION FOLDER RUNS on the stand-in.
"""

import os
import signal
import sys
import threading

runs = int(sys.argv.pop())

from rknn_board import MODELS, board, tell  # noqa: E402

there, version = board()
import maixmem_rknn  # noqa: E402
from maixmem_models import ModelManager  # noqa: E402

SECOND = "segment" if version >= MODELS["segment"][2] else "two"
NEAR = 16384  # a model's own figure may be so much above what the driver has


class Stop(BaseException):
    """What the handler of the signal raises."""


class Opcodes:
    """Counts the bytecodes of the main thread within a program, and raises in one of them."""

    def __init__(self, at=0):
        self.at = at
        self.count = 0

    def __call__(self, frame, event, arg):
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.count += 1
            if self.count == self.at:
                raise Stop
        return self

    def run(self, act):
        sys.settrace(self)
        try:
            act()
        except Stop:
            return True
        finally:
            sys.settrace(None)
        return False


class Alarm:
    """A signal in so many seconds, whose handler raises."""

    def __init__(self, seconds):
        self.seconds = seconds

    def run(self, act):
        try:
            signal.setitimer(signal.ITIMER_REAL, self.seconds)
            act()
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
        if not 0 <= over <= NEAR * (1 + len(self.port.models)):
            wrong.append(["used", self.port.used, there.live()])
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


def sweep(name, positions, way):
    met, found = 0, []
    for at in positions:
        scene = Scene()
        met += way(at).run(scene.program)
        found += [[at, *what] for what in scene.end()]
    tell(name, len(positions), met, found[:5])


def stop(number, frame):
    raise Stop


def seconds_of(act):
    import time

    begin = time.monotonic()
    act()
    return time.monotonic() - begin


signal.signal(signal.SIGALRM, stop)
counter = Opcodes()
scene = Scene()
counter.run(scene.program)
assert not scene.end() and threading.active_count() == 1
scene = Scene()
length = seconds_of(scene.program)
scene.end()
half = runs // 2
sweep("bytecodes", [1 + k * counter.count // half for k in range(half)], Opcodes)
sweep("moments", [length * (k + 0.5) / half for k in range(runs - half)], Alarm)
tell("bytecodes of the program", counter.count)
tell("end", there.live(), there.held(), there.bad())
sys.stdout.flush()
os._exit(0)
