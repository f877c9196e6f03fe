# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What test_threads_on_firmware.py runs on the board: calls of the library in a thread."""

import gc
import time

import KPU
import maixmem
from maixmem_models import ModelManager

try:
    import _thread
except ImportError:
    _thread = None

m = ModelManager()
done = []
SIZES = {0x300000: 159768, 0x500000: 208072}  # of the files


def tell(name, source, **how):
    """add(), with what a firmware that reads no flash has to be told."""
    if "flash_read" in m.port.lacks:
        how["nbytes"] = SIZES[source]
    m.add(name, source, **how)


tell(0, 0x300000)
tell(1, 0x500000)


def lost():
    """Prints what one load of a model leaves behind without the library."""
    free = m.port.free_bytes()
    net = KPU.load(0x300000)
    del net
    gc.collect()
    print(free - m.port.free_bytes())


def use():
    m.use(0)


def refused():
    m.margin = 6 << 20
    m.use(1)


def add():
    tell(2, 0x500000)


def report():
    maixmem.report(str)


def turns(names, seconds):
    """Switches while another thread does: a setup that sleeps gives it its turn."""
    end = time.ticks_ms() + 1000 * seconds
    k = 0
    while time.ticks_ms() < end:
        m.use(names[k % 2])
        k += 1
        m.release(names[k % 2])
    done.append(k > 10)


def nap(net):
    time.sleep_ms(3)


def two_threads():
    """Prints how each ended, what is loaded, and what heap is gone after all models went: after
    two threads that do nothing (the firmware keeps the stack of one), after two that switch."""
    m.keep = 2
    for name in (0, 1, 3, 4):
        if name in m.models:
            m.forget(name)
        tell(name, 0x500000 if name & 1 else 0x300000, setup=nap)
    _thread.stack_size(16384)
    gone = []
    for seconds in (0, 1):
        free = m.port.free_bytes()
        done.clear()
        _thread.start_new_thread(inside, (lambda: turns((3, 4), seconds),))
        inside(lambda: turns((0, 1), seconds))
        for _ in range(100):
            if len(done) == 4:
                break
            time.sleep_ms(20)
        m.release_all()
        gone.append(free - m.port.free_bytes())
    print(repr((done, m.loaded(), gone)))


def inside(call):
    try:
        call()
        done.append("ok")
    except BaseException as e:
        done.append(type(e).__name__)


def in_thread(call, stack):
    """Prints how it ended with so many bytes of stack, and how use() ends in the main thread
    afterwards."""
    _thread.stack_size(stack)
    _thread.start_new_thread(inside, (call,))
    for _ in range(100):
        time.sleep_ms(20)
        if done:
            break
    m.margin = 0
    inside(use)
    print(repr(done))
