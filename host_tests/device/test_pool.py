# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""BufferPool: the same objects for ever, wrong releases caught, nothing allocated on the way."""

import gc
import sys

import maixmem
from devtest import OLD, SLOW, Skip, heap_locked, raises
from maixmem_pool import BufferPool, PoolEmpty, PoolError

try:
    from uctypes import addressof
except ImportError:
    addressof = None

# random ones; the bench does more
OPERATIONS = 2000 if SLOW else 40000
if OLD or sys.implementation.name == "cpython":
    OPERATIONS = 8000 if OLD else 1000000


def test_hands_out_the_same_objects_for_ever():
    pool = BufferPool(100, 3)
    first = [pool.acquire() for _ in range(3)]
    for buf in first:
        pool.release(buf)
    again = [pool.acquire() for _ in range(3)]
    assert sorted([id(b) for b in first]) == sorted([id(b) for b in again])
    assert [len(b) for b in again] == [100, 100, 100]


def test_sizes_are_whole_numbers():
    for args in ((8.0, 2), (8.5, 2), (8, 2.0), (8, 2, 1.0), (0, 2), (8, -1), ("8", 2)):
        e = raises(ValueError, BufferPool, *args)
        assert "BufferPool({!r}, {!r}".format(*args[:2]) in str(e) and "//" in str(e), e


def test_buffers_do_not_overlap_and_fill_one_block():
    pool = BufferPool(8, 4)
    held = [pool.acquire() for _ in range(4)]
    for i in range(4):
        for j in range(8):
            held[i][j] = i + 1
    assert [bytes(b) for b in held] == [bytes([i + 1] * 8) for i in range(4)]
    assert len(pool.block) == 32


def test_in_use_high_water_and_failures():
    pool = BufferPool(4, 3)
    assert (pool.in_use, pool.high_water, pool.failures) == (0, 0, 0)
    a, b = pool.acquire(), pool.acquire()
    pool.release(a)
    pool.release(b)
    pool.release(pool.acquire())
    assert (pool.in_use, pool.high_water, pool.failures) == (0, 2, 0)
    for _ in range(3):
        pool.acquire()
    raises(PoolEmpty, pool.acquire)
    assert (pool.in_use, pool.high_water, pool.failures) == (3, 3, 1)


def test_empty_names_the_holders():
    pool = BufferPool(4, 3)
    held = [pool.acquire("camera"), pool.acquire("lcd"), pool.borrow("uart")]
    e = raises(PoolEmpty, pool.acquire)
    assert isinstance(e, MemoryError) and PoolEmpty is maixmem.PoolEmpty
    for text in ("3", "camera", "lcd", "uart"):
        assert text in str(e), e
    assert sorted(pool.holders()) == ["camera", "lcd", "uart"]
    assert len(held) == 3 and pool.check() == 3


def test_double_release():
    pool = BufferPool(4, 2)
    buf = pool.acquire()
    pool.release(buf)
    e = raises(PoolError, pool.release, buf)
    assert "double" in str(e) and isinstance(e, ValueError) and PoolError is maixmem.PoolError
    assert pool.check() == 0


def test_a_buffer_that_was_never_out_cannot_be_released():
    pool = BufferPool(4, 2)
    a, b = pool.acquire(), pool.acquire()
    fresh = BufferPool(4, 1)
    never = fresh.acquire()
    fresh.release(never)
    for wrong in (never, a[:], memoryview(bytearray(4)), bytearray(4), None, 0, "x"):
        e = raises(PoolError, pool.release, wrong)
        assert "not from this pool" in str(e), e
    assert pool.check() == 2
    pool.release(b)
    pool.release(a)


def test_stale_release_is_caught_by_its_tag():
    pool = BufferPool(4, 1)
    buf = pool.acquire("old")
    pool.release(buf, "old")
    assert pool.acquire("new") is buf
    e = raises(PoolError, pool.release, buf, "old")
    assert "stale" in str(e) and "new" in str(e) and "old" in str(e)
    pool.release(buf, "new")
    assert "double" in str(raises(PoolError, pool.release, buf, "new"))


def test_stale_loan_cannot_take_from_the_next_holder():
    pool = BufferPool(4, 1)
    loan = pool.borrow("a")
    with loan as buf:
        pool.release(buf)
        assert pool.acquire("b") is buf
        assert "stale" in str(raises(PoolError, loan.__exit__, None, None, None))
        pool.release(buf, "b")
        raises(PoolError, loan.__exit__, None, None, None)
        loan.item = pool.acquire(loan)
    assert pool.check() == 0


def test_borrow_gives_back_after_an_error_and_nests():
    pool = BufferPool(4, 3)

    def fail():
        with pool.borrow("x") as a, pool.borrow("y") as b:
            assert a is not b and pool.in_use == 2
            raise KeyError("inside")

    raises(KeyError, fail)
    assert pool.check() == 0
    deep = BufferPool(4, 6)
    loans = [deep.borrow(i + 1) for i in range(6)]
    assert deep.in_use == 6 and sorted(deep.holders()) == [1, 2, 3, 4, 5, 6]
    raises(PoolEmpty, deep.borrow)
    for loan in (loans[3], loans[0], loans[5], loans[1], loans[4], loans[2]):
        with loan:
            pass
    assert deep.check() == 0 and deep.high_water == 6


def test_false_tags_still_hold():
    pool = BufferPool(4, 1)
    for tag in (None, 0, "", False):
        buf = pool.acquire(tag)
        assert pool.in_use == 1 and pool.holders() == [True]
        pool.release(buf)


def test_alignment():
    pool = BufferPool(100, 3, align=64)
    held = [pool.acquire() for _ in range(3)]
    if addressof:
        assert [addressof(b) % 64 for b in held] == [0, 0, 0]
    assert [len(b) for b in held] == [100] * 3
    block = bytearray(3 * 128 + 63)
    assert len(pool.block) == len(block)


def test_a_given_block_is_used_and_checked():
    block = bytearray(40)
    pool = BufferPool(10, 4, block=block)
    for i in range(4):
        pool.acquire()[0] = i + 1
    assert sorted([block[0], block[10], block[20], block[30]]) == [1, 2, 3, 4]
    e = raises(ValueError, BufferPool, 10, 5, 1, block)
    assert "40" in str(e) and "50" in str(e)


def test_wrong_sizes():
    for args in ((0, 1), (1, 0), (1, 1, 0), (-1, 1)):
        raises(ValueError, BufferPool, *args)


def test_too_large_is_a_memory_error_and_leaves_nothing():
    if not hasattr(gc, "mem_alloc"):
        raise Skip("this interpreter does not count its heap")
    gc.collect()
    before = gc.mem_alloc()
    raises(MemoryError, BufferPool, gc.mem_free(), 2)
    gc.collect()
    assert gc.mem_alloc() - before < 512


def hot(pool):
    """What must not allocate: everything but the errors."""
    a = pool.acquire()
    b = pool.acquire("tag")
    pool.release(a)
    pool.release(b, "tag")
    with pool.borrow() as c:
        with pool.borrow("tag") as d:
            d[0] = c[0]


def test_allocates_nothing():
    pool = BufferPool(64, 9)
    for _ in range(3):
        pool.acquire()
    heap_locked(hot, pool)
    assert pool.check() == 3


def rounds(pool, n):
    for _ in range(n):
        pool.release(pool.acquire())


def test_takes_no_call_frame_from_the_heap():
    try:
        from micropython import mem_total
    except ImportError:
        raise Skip("this interpreter does not count its allocations")
    pool = BufferPool(64, 9)
    rounds(pool, 10)
    before = mem_total()
    rounds(pool, 10)
    small = mem_total() - before
    before = mem_total()
    rounds(pool, 100)
    assert mem_total() - before == small, (mem_total() - before, small)


def overhead(count):
    """Bytes of GC heap that a pool of `count` takes beside its block."""
    block = bytearray(count * 8)
    gc.collect()
    before = gc.mem_alloc()
    pool = BufferPool(8, count, block=block)
    gc.collect()
    taken = gc.mem_alloc() - before
    assert pool.check() == 0
    return taken


def test_overhead():
    if not hasattr(gc, "mem_alloc"):
        raise Skip("this interpreter does not count its heap")
    for count in (1, 2, 5, 16, 33, 100):
        assert overhead(count) <= 64 * count + 1024, (count, overhead(count))


def test_check_finds_a_lost_and_a_doubled_buffer():
    pool = BufferPool(4, 3)
    pool._free[0] -= 1
    assert "damaged" in str(raises(PoolError, pool.check))
    pool = BufferPool(4, 3)
    pool._free[1] = pool._free[2]
    raises(PoolError, pool.check)
    pool = BufferPool(4, 3)
    pool._held[id(pool._free[1])] = "somebody"
    raises(PoolError, pool.check)


# The obvious model: `held` is a list of (buffer, stamp) that are out. A buffer carries its
# holder's stamp, which another holder of the same bytes would overwrite.
def against_a_model(operations, seed=1, count=7, every=1000):
    """Runs random right and wrong calls; returns how many were right, how many wrong ones were
    caught, how many checks."""
    pool = BufferPool(2, count)
    foreign = BufferPool(2, 1).acquire()
    held = []
    returned = None
    state = seed
    most = right = caught = checks = 0
    for step in range(operations):
        state = state * 16807 % 65521
        kind = state & 15
        if kind < 7:
            tag = step & 0xFFFF or 1
            if len(held) < count:
                buf = filled(pool.acquire(tag), tag)
                held.append((buf, tag))
                most = max(most, len(held))
                if buf is returned:
                    returned = None
                right += 1
            else:
                caught += is_refused(PoolEmpty, pool.acquire, tag)
        elif kind < 13 and held:
            buf, tag = held.pop(state % len(held))
            assert buf[0] == tag & 0xFF and buf[1] == tag >> 8
            if kind < 10:
                pool.release(buf)
            else:
                pool.release(buf, tag)
            returned = buf
            right += 1
        elif kind == 13 and returned is not None:
            caught += is_refused(PoolError, pool.release, returned)
        elif kind == 14 and held:
            buf, tag = held[state % len(held)]
            caught += is_refused(PoolError, pool.release, buf, tag + 1)
        else:
            caught += is_refused(PoolError, pool.release, foreign)
        assert pool.in_use == len(held)
        if step % every == 0:
            assert pool.check() == len(held) and pool.high_water == most
            gc.collect()
            checks += 1
    return right, caught, checks


def filled(buf, tag):
    buf[0] = tag & 0xFF
    buf[1] = tag >> 8
    return buf


def is_refused(kind, call, *args):
    """1; the call must raise an error of this kind."""
    try:
        call(*args)
    except kind:
        return 1
    raise AssertionError("{} was not raised".format(kind.__name__))


def test_random_operations_against_a_model():
    import maixmem_text  # it stays: else each refusal imports it anew

    right, caught, checks = against_a_model(OPERATIONS)
    assert right > OPERATIONS // 2 and caught > OPERATIONS // 20 and checks >= OPERATIONS // 1000
