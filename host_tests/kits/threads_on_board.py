# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What test_threads_on_firmware.py runs on the board: calls of the library in a thread."""

import time

import maixmem
from maixmem_models import ModelManager

try:
    import _thread
except ImportError:
    _thread = None

m = ModelManager()
m.add(0, 0x300000)
m.add(1, 0x500000)
done = []


def use():
    m.use(0)


def refused():
    m.margin = 6 << 20
    m.use(1)


def add():
    m.add(2, 0x500000)


def report():
    maixmem.report(str)


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
