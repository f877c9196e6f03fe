# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A GC heap that grows out of the system's, as on an ESP32: no call of ours takes any of it. On
interpreters whose heap has a fixed size the same calls leave that size alone."""

import gc
import sys

import maixmem
import maixmem_generic
from devtest import OLD, SLOW, Skip
from maixmem_advice import advise
from maixmem_arena import Arena, block_bytes, piece_bytes, round_up
from maixmem_boards import growth
from maixmem_image import camera_bytes, image_bytes, lcd_bytes, pool_bytes
from maixmem_models import ModelManager
from maixmem_pool import BufferPool, PoolEmpty, PoolError

try:
    import esp32
except ImportError:
    esp32 = None
try:
    from js import memoryBytes  # of pyscript.mjs
except ImportError:
    memoryBytes = None


def lowest():
    """The least free bytes that the system heap ever had; else what the GC heap can be. PyScript:
    what it has from the system, which only grows, below zero."""
    if memoryBytes:
        return -memoryBytes()
    if esp32:
        return min([heap[3] for heap in esp32.idf_heap_info(esp32.HEAP_DATA)])
    return gc.mem_alloc() + gc.mem_free()


def quiet(line):
    pass


class Loads(maixmem_generic.Port):
    """The generic port with models: each is 64 bytes of the GC heap."""

    share = "evict"
    margin = 0

    def inspect(self, source):
        return maixmem.Cost({"gc": source}, {"gc": source})

    def load(self, source):
        if source > 64:
            raise maixmem.NoRoom("no", "gc", source, 64)
        return bytearray(source)

    def unload(self, handle):
        pass


def refused(kind, call, *args):
    try:
        call(*args)
    except kind as e:
        advise(e, quiet)
    else:
        raise AssertionError("not refused")


def models():
    """add(), use(), using(), loaded(), status(), release(), a load that is refused, forget()."""
    manager = ModelManager(Loads(), 2)
    for name, size in (("one", 64), ("two", 64), ("large", 65)):
        manager.add(name, size)
    manager.use("one")
    with manager.using("two"):
        assert len(manager.loaded()) == 2
    refused(maixmem.NoRoom, manager.use, "large")
    manager.status(quiet)
    manager.release("one")
    manager.release_all()
    manager.forget("two")


def pooled():
    """acquire(), borrow(), release() right and wrong, holders(), check()."""
    pool = BufferPool(64, 2)
    with pool.borrow() as buf:
        buf[0] = 1
    bufs = pool.acquire("a"), pool.acquire("b")
    refused(PoolEmpty, pool.acquire)
    assert len(pool.holders()) == pool.in_use == pool.check() == pool.high_water == 2
    pool.release(bufs[0])
    refused(PoolError, pool.release, bufs[0])
    pool.release(bufs[1])


def arena():
    """alloc(), view(), walk(), check(), free(), what is left."""
    a = Arena(256)
    first = a.alloc(64)
    a.view(first)[0] = 1
    assert a.largest <= a.available and list(a.walk())
    a.check()
    refused(maixmem.NoRoom, a.alloc, 512)
    a.free(first)
    assert round_up(3, 4) == 4 and piece_bytes(4) and block_bytes((4, 4))


def images():
    """Sizes before anything is made."""
    image_bytes(320, 240, "rgb565")
    pool_bytes(153600, 2)
    camera_bytes(320, 240)
    lcd_bytes(320, 240)


def calls():
    """Every public call of what such a board gets, on the port for boards without one of their
    own."""
    port = maixmem.set_port(maixmem_generic.Port())
    watch = maixmem.Watch()
    free = [0] * len(port.watched)
    return (
        ("regions", maixmem.regions),
        ("report", lambda: maixmem.report(quiet)),
        ("port", maixmem.port),
        ("set_gc_heap", lambda: refused(NotImplementedError, maixmem.set_gc_heap, 1 << 19)),
        ("Watch", maixmem.Watch),
        ("sample", watch.sample),
        ("mark", lambda: watch.mark("here")),
        ("high_water", watch.high_water),
        ("watch.report", lambda: watch.report(quiet)),
        ("watch.reset", watch.reset),
        ("warnings", port.warnings),
        ("room", lambda: port.room("gc")),
        ("port.sample", lambda: port.sample(free)),
        ("free_bytes", port.free_bytes),
        ("held_by", lambda: port.held_by(None, "gc")),
        ("check_fit", lambda: port.check_fit(maixmem.Cost({}, {"gc": 1 << 30}), 0)),
        ("load", lambda: refused(NotImplementedError, port.load, "model")),
        ("virtual_memory", maixmem_generic.virtual_memory),
        ("growth", growth),
        ("pools", pooled),
        ("arena", arena),
        ("images", images),
        ("models", models),
    )


def needs_counters():
    if not hasattr(gc, "mem_free"):
        raise Skip("this interpreter does not count its heap")
    if OLD:
        raise Skip("this runner has no files, which the port asks about Linux")


def filled():
    """Blocks to keep, so that the GC heap has no more free than an ESP32's before it grows.
    CircuitPython's grows without a word, and by what compiling a part takes: it has grown then,
    with something left in each piece, as an empty one would go."""
    kept = []
    gc.collect()
    if sys.implementation.name == "circuitpython":
        kept = [bytearray(512) for _ in range(128)]
        return kept[::8]
    piece = growth()
    while piece and gc.mem_free() - piece > 98304:
        kept.append(bytearray(8192))
    return kept


def test_no_call_takes_from_the_system():
    needs_counters()
    kept = filled()
    before = lowest()
    try:
        todo = calls()
        for name, call in todo + todo:  # with the code that comes when it is needed; without
            call()
            assert lowest() == before, (name, lowest(), before)
    finally:
        del kept
        maixmem.set_port(None)


def test_a_hundred_reports_leave_the_heap_as_it_is():
    needs_counters()
    try:
        maixmem.set_port(maixmem_generic.Port())
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
