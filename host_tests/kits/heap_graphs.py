# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Random programs for MicroPython 1.11 and later whose globals hold objects of all kinds.

Containers, instances with slots of all kinds, closures, generators, bound methods, views, numbers,
kept exceptions, circles, timers, threads.
"""

from __future__ import annotations

import random

_HEAD = """
import gc
try:
    from array import array
except ImportError:
    from uarray import array
class Base:
    shared = {}
    def __init__(self, a, b=None):
        self.a = a
        self.b = b
    def method(self, x=0):
        return self.a
    @staticmethod
    def still(x):
        return x
    @classmethod
    def of(cls, x):
        return cls(x)
class Child(Base):
    table = [1.5, 2.5]
    def __init__(self, a):
        super().__init__(a, [a])
        self.more = {"k": a}
    @property
    def prop(self):
        return self.b
class Plain:
    pass
class Listy(list):
    pass
def closing(a, b):
    count = 0
    def inner():
        nonlocal count
        count += 1
        return a, b, count
    return inner
def walking(a, n):
    kept = [a] * n
    for item in kept:
        other = (item, n)
        yield other
def started(a, n):
    g = walking(a, n)
    next(g)
    return g
def nesting(a):
    yield from walking(a, 3)
def nested(a):
    g = nesting(a)
    next(g)
    return g
def failing(a):
    local = [a, 1.25]
    raise ValueError(a, "kept")
def failed(a):
    try:
        failing(a)
    except ValueError as e:
        return e
def defaults(a):
    def f(x, y=a, *, z=[a]):
        return x
    return f
def plain(a):
    p = Plain()
    p.value = a
    p.number = 1 << 80
    return p
"""

#: expressions by how many other values they are made of
_LEAVES = (
    lambda r: f"bytearray({r.randrange(1, 400)})",
    lambda r: f"bytes(range({r.randrange(1, 200)}))",
    lambda r: f"'text %d' % {r.randrange(1 << 20)}",
    lambda r: f"'long text ' * {r.randrange(2, 20)}",
    lambda r: f"{r.randrange(1, 99)} / 7",
    lambda r: f"(1 << {r.randrange(64, 300)}) + {r.randrange(99)}",
    lambda r: f"array('{r.choice('bHifd')}', [{r.randrange(9)}] * {r.randrange(1, 60)})",
    lambda r: f"memoryview(bytearray({r.randrange(8, 90)}))",
    lambda r: f"range({r.randrange(5, 500)})",
    lambda r: str(r.randrange(-5, 1 << 20)),
    lambda r: r.choice(("None", "True", "'x'", "b'y'", "len", "int", "gc.collect", "object()")),
    lambda r: "{" + ", ".join(f"'s%d' % {n}" for n in range(r.randrange(1, 6))) + "}",
    lambda r: "lambda x: x + 1",
)
_OF_ONE = (
    "Base({0})",
    "Child({0})",
    "plain({0})",
    "Base({0}).method",
    "Child({0}).method",
    "started({0}, 4)",
    "nested({0})",
    "failed({0})",
    "defaults({0})",
    "iter([{0}])",
    "enumerate([{0}])",
    "[{0}] * 3",
    "Base.of({0})",
    "Listy([{0}])",
    "{{0: {0}, 1: {0}}}",
    "reversed([{0}])",
    "map(len, [{0}])",
)
_OF_TWO = (
    "[{0}, {1}]",
    "({0}, {1})",
    "{{'one': {0}, 'two': {1}}}",
    "{{-1: {0}, 'a key of %d' % 7: {1}}}",
    "{{(1, 2): {0}, 2.5: {1}}}",
    "closing({0}, {1})",
    "Base({0}, {1})",
    "zip([{0}], [{1}])",
)


def program(seed: int, number: int = 24, *, timers: bool = False, threads: bool = False) -> str:
    """A program whose globals g0 to gN hold what a random choice built; the same for a seed."""
    r = random.Random(seed)
    lines = [_HEAD.strip()]
    for i in range(number):
        lines.append(f"g{i} = {_value(r, i, r.randrange(1, 4))}")
        if r.random() < 0.2:
            lines.append(f"Base.shared['g%d' % {i}] = {_value(r, i, 1)}")
    for i in range(0, number, 6):  # circles
        lines.append(f"c{i} = [g{i}]\nc{i}.append(c{i})\nc{i}.append(Base(c{i}))")
    if timers:
        lines.append(_TIMER)
    if threads:
        lines.append(_THREAD.format(r.choice(_THREADS)))
    return "\n".join(lines) + "\n"


#: ends what would outlive a soft reset
END = """
if 'timer' in globals():
    timer.deinit()
if 'stop' in globals():
    stop.append(1)
    if lock.locked():
        lock.release()
    time.sleep_ms(200)
"""
#: a K210's firmware has the timer that was due last among its roots, and a soft reset leaves the
#: address there: it holds whatever lies there then, until this one is due
_TIMER = """
def ticking(kept):
    def tick(t):
        return kept
    return tick
import machine
if hasattr(machine.Timer, 'PERIODIC'):
    timer = machine.Timer(period=3600000, mode=machine.Timer.PERIODIC, callback=ticking([1.5] * 9))
else:
    timer = machine.Timer(machine.Timer.TIMER0, machine.Timer.CHANNEL3, period=3000,
        mode=machine.Timer.MODE_PERIODIC, unit=machine.Timer.UNIT_MS, callback=ticking([1.5] * 9))
    import time
    time.sleep_ms(3500)
"""
#: one that sleeps in a loop, or one that waits for a lock
_THREADS = (
    """
def waiting(kept):
    mine = [kept, bytearray(300)]
    while not stop:
        time.sleep_ms(50)
""",
    """
lock.acquire()
def waiting(kept):
    mine = {'a': kept, 'b': bytearray(300), 'c': started(kept, 3)}
    lock.acquire()
    lock.release()
""",
)
_THREAD = """
import _thread, time
stop = []
lock = _thread.allocate_lock()
{}
_thread.start_new_thread(waiting, ({{'thread': 2.5, 'more': Base([1 << 70])}},))
time.sleep_ms(100)
"""


def _value(r: random.Random, known: int, depth: int) -> str:
    """An expression; it may share an earlier global."""
    if known and r.random() < 0.2:
        return f"g{r.randrange(known)}"
    if not depth:
        return str(r.choice(_LEAVES)(r))
    if r.random() < 0.5:
        return r.choice(_OF_ONE).format(_value(r, known, depth - 1))
    parts = _value(r, known, depth - 1), _value(r, known, depth - 1)
    return r.choice(_OF_TWO).format(*parts)
