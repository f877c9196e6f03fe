# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Whose turn it is, how deep a thread's calls go, what its stack leaves of the system heap, and
what an error of it says: stand-in and firmware answer as turns.txt (host_tests/sim)."""

import _thread
import time

from Maix import utils

log = []
depth = [0]


def busy():
    for n in range(6000):
        if n % 2000 == 0:
            log.append(("thread", n))


def deep(n):
    return deeper(n)


def deeper(n):
    depth[0] = n
    return deep(n + 1)


def deepest():
    try:
        deep(0)
    except RuntimeError:
        log.append(depth[0])


def pause():
    time.sleep_ms(5)


def fails():
    raise ValueError("x")


def tick(name, ms):
    for _ in range(3):
        log.append(name)
        time.sleep_ms(ms)


def locked(name):
    with lock:
        log.append(name)
        time.sleep_ms(5)
        log.append(name)


def said(what):
    print(what, log)
    log.clear()


_thread.start_new_thread(busy, ())
for n in range(6000):
    if n % 2000 == 0:
        log.append(("main", n))
time.sleep_us(20000)
log.append("main waits")
time.sleep_ms(100)
said("busy")

for ms in (10, 25):
    _thread.start_new_thread(tick, (ms, ms))
time.sleep_ms(120)
said("ticks")

lock = _thread.allocate_lock()
lock.acquire()
for name in "abc":
    _thread.start_new_thread(locked, (name,))
time.sleep_ms(20)
log.append("mine")
lock.release()
time.sleep_ms(100)
log.append(lock.locked())
lock.acquire()
log.append(lock.acquire(0))
said("locks")

for size in (8192, 16384, 32768, 65536):
    _thread.stack_size(size)
    _thread.start_new_thread(deepest, ())
    time.sleep_ms(100)
said("depth")

_thread.stack_size(0)
before = utils.heap_free()
for _ in range(6):
    _thread.start_new_thread(pause, ())
    time.sleep_ms(20)
print("heap", before - utils.heap_free())

_thread.start_new_thread(fails, ())
time.sleep_ms(20)
print("main goes on")
