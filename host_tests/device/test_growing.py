# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A GC heap that grows out of the system's, as on an ESP32: no call of ours takes any of it. On
interpreters whose heap has a fixed size the same calls leave that size alone."""

import gc

import maixmem
import maixmem_generic
from devtest import OLD, SLOW, Skip
from maixmem_arena import Arena
from maixmem_boards import growth
from maixmem_pool import BufferPool

try:
    import esp32
except ImportError:
    esp32 = None


def lowest():
    """The least free bytes that the system heap ever had; else what the GC heap can be."""
    if esp32:
        return min([heap[3] for heap in esp32.idf_heap_info(esp32.HEAP_DATA)])
    return gc.mem_alloc() + gc.mem_free()


def quiet(line):
    pass


def pooled():
    pool = BufferPool(64, 2)
    with pool.borrow() as buf:
        buf[0] = 1
    Arena(256).alloc(64)


def calls():
    """Every public call that looks at memory, on the port for boards without one of their own."""
    port = maixmem.set_port(maixmem_generic.Port())
    watch = maixmem.Watch()
    free = [0] * len(port.watched)
    return (
        ("regions", maixmem.regions),
        ("report", lambda: maixmem.report(quiet)),
        ("Watch", maixmem.Watch),
        ("sample", watch.sample),
        ("mark", lambda: watch.mark("here")),
        ("high_water", watch.high_water),
        ("watch.report", lambda: watch.report(quiet)),
        ("warnings", port.warnings),
        ("room", lambda: port.room("gc")),
        ("port.sample", lambda: port.sample(free)),
        ("free_bytes", port.free_bytes),
        ("check_fit", lambda: port.check_fit(maixmem.Cost({}, {"gc": 1 << 30}), 0)),
        ("pools", pooled),
    )


def needs_counters():
    if not hasattr(gc, "mem_free"):
        raise Skip("this interpreter does not count its heap")
    if OLD:
        raise Skip("this runner has no files, which the port asks about Linux")


def test_no_call_takes_from_the_system():
    needs_counters()
    try:
        todo = calls()
        for name, call in todo:  # code that comes when it is needed is there afterwards
            call()
        gc.collect()
        before = lowest()
        for name, call in todo:
            call()
            assert lowest() == before, (name, lowest(), before)
    finally:
        maixmem.set_port(None)


def test_a_hundred_reports_leave_the_heap_as_it_is():
    needs_counters()
    try:
        maixmem.set_port(maixmem_generic.Port())
        maixmem.report(quiet)
        before = lowest()
        for _ in range(5 if SLOW else 100):
            maixmem.report(quiet)
        assert lowest() == before, (lowest(), before)
    finally:
        maixmem.set_port(None)


def test_what_is_told_of_a_heap_that_grows_can_be_had():
    if not esp32 or not growth():
        raise Skip("no heap here that grows by a piece that the platform tells")
    told = [r for r in maixmem_generic.Port().regions() if r.name == "gc"][0]
    assert told.exact is False and told.used + told.free == told.total
    before = gc.mem_alloc()
    kept = bytearray(told.largest)
    while gc.mem_alloc() - before < told.free:
        kept = (kept,)  # a block each: the holes are small
    del kept
    gc.collect()
