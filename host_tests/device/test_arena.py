# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Arena: a general allocator over one block, with the piece rules of the platforms."""

import gc
import sys

from devtest import SLOW, raises
from maixmem import NoRoom, PoolError
from maixmem_arena import (
    ASCEND_DVPP,
    ASCEND_RT,
    MAIXCAM_IMAGE,
    PLAIN,
    RKNN,
    Arena,
    block_bytes,
    piece_bytes,
    round_up,
)

HEAP = "2m"

# random operations for each of three rules; the bench does ten times as many
OPERATIONS = 30000 if sys.implementation.name == "cpython" else 10000
if SLOW:
    OPERATIONS = (
        300  # a browser's VM: 10 ms for each, and each exception keeps a piece of its stack
    )


def test_pieces_of_the_rules():
    assert [piece_bytes(n, ASCEND_RT) for n in (1, 32, 33, 64, 1000)] == [64, 64, 96, 96, 1056]
    assert [piece_bytes(n, RKNN) for n in (1, 4096, 4097)] == [4096, 4096, 8192]
    assert piece_bytes(57600, MAIXCAM_IMAGE) == 61696
    assert [piece_bytes(n) for n in (1, 33)] == [1, 33]
    assert round_up(piece_bytes(1, ASCEND_DVPP), ASCEND_DVPP[3]) == 2097152


def test_the_ascend_pool_of_four():
    arena = Arena(1376, rule=ASCEND_RT, block=0)
    assert [arena.alloc(n) for n in (1000, 64, 33, 1)] == [0, 1280, 1152, 1088]
    assert arena.check() == 4
    arena = Arena(4096, rule=ASCEND_RT, block=0x20000000)
    at = [arena.alloc(n) for n in (1, 33, 64, 1000)]
    assert [a % 64 for a in at] == [0] * 4 and arena.check() == 4
    assert block_bytes((1, 33, 64, 1000), ASCEND_RT) == 1376


def test_jpegd_pictures_start_at_multiples_of_128():
    size = 3133440
    arena = Arena(4 * (size + 128), rule=ASCEND_DVPP, block=0x10000080)
    at = [arena.alloc(size) for _ in range(4)]
    assert [a - at[0] for a in at] == [0, 3133568, 6267136, 9400704]
    assert [a % 128 for a in at] == [0] * 4


def test_sizes_are_whole_numbers_and_the_books_stay_right():
    arena = Arena(1000)
    for n in (1.5, 8.0, 0, -1, "8", None):
        e = raises(ValueError, arena.alloc, n)
        assert "alloc({!r})".format(n) in str(e) and "//" in str(e), e
    assert arena.available == arena.largest == 1000 and arena.check() == 0 and arena.failures == 0
    for args in ((1000.0,), (0,), (1000, 1.0), (1000, 0), (1000, 1, PLAIN, None, 64.0)):
        e = raises(ValueError, Arena, *args)
        assert "Arena(" in str(e) and "//" in str(e), e


def test_views_are_the_bytes_asked_for():
    arena = Arena(100, 4)
    a, b = arena.alloc(10), arena.alloc(7)
    va, vb = arena.view(a), arena.view(b)
    assert (len(va), len(vb)) == (10, 7)
    for i in range(10):
        va[i] = 1
    for i in range(7):
        vb[i] = 2
    assert bytes(arena.view(a)) == bytes([1] * 10) and bytes(arena.view(b)) == bytes([2] * 7)
    block = bytearray(20)
    arena = Arena(20, block=block)
    arena.view(arena.alloc(20))[3] = 9
    assert block[3] == 9
    device = Arena(64, block=0x1000)
    e = raises(PoolError, device.view, device.alloc(8))
    assert "device" in str(e)


def test_neighbours_that_are_freed_are_one_hole():
    arena = Arena(96, block=0)
    a, b, c = [arena.alloc(32) for _ in range(3)]
    assert arena.largest == 0 and arena.available == 0
    for order in ((a, b, c), (b, a, c), (c, a, b), (a, c, b)):
        for at in order:
            arena.free(at)
        assert arena.largest == arena.available == 96
        assert arena.walk() == [(0, 96, False)]
        assert sorted([arena.alloc(32) for _ in range(3)]) == [a, b, c]


def test_walk_covers_the_block():
    arena = Arena(1000, 16, block=0)
    at = [arena.alloc(n) for n in (300, 10, 200)]
    arena.free(at[0])
    rows = arena.walk()
    assert sum([n for _, n, _ in rows]) == 1000 and rows[0][0] == 0
    for (start, n, _), (after, _, _) in zip(rows, rows[1:]):
        assert start + n == after
    assert sum([n for _, n, used in rows if used]) == 210


def test_no_room_names_the_numbers():
    arena = Arena(100, block=0)
    arena.alloc(60)
    e = raises(NoRoom, arena.alloc, 50)
    assert (e.region, e.need, e.free) == ("arena", 50, 40) and arena.failures == 1
    for text in ("50", "40"):
        assert text in str(e)
    arena.alloc(40)
    raises(NoRoom, arena.alloc, 1)
    arena = Arena(100, block=0, pieces=2)
    arena.alloc(1)
    arena.alloc(1)
    e = raises(NoRoom, arena.alloc, 1)
    assert "2 of 2 pieces" in str(e)


def test_wrong_frees():
    arena = Arena(100, block=0)
    a = arena.alloc(10)
    for wrong in (a + 1, -1, 1000, None, "x"):
        raises(PoolError, arena.free, wrong)
    arena.free(a)
    raises(PoolError, arena.free, a)
    assert arena.check() == 0 and arena.largest == 100


def test_wrong_sizes():
    for args in ((0,), (10, 0), (10, 1, PLAIN, None, 0), (100, 1, PLAIN, bytearray(99))):
        raises(ValueError, Arena, *args)
    arena = Arena(10, block=0)
    for n in (0, -1):
        raises(ValueError, arena.alloc, n)


def test_largest_is_true_under_every_rule():
    for rule in (PLAIN, RKNN, ASCEND_RT, ASCEND_DVPP, MAIXCAM_IMAGE):
        arena = Arena(100003, 32, rule=rule, block=12345)
        while arena.largest > 20000:
            arena.alloc(9000)
        n = arena.largest
        if n:
            raises(NoRoom, arena.alloc, n + 1)
            arena.alloc(n)
        arena.check()


def test_check_finds_an_overlap():
    arena = Arena(100, block=0)
    arena.alloc(10)
    arena._live.append((5, 15, 10))
    raises(PoolError, arena.check)
    arena._live[:] = [(95, 105, 10)]
    raises(PoolError, arena.check)


# The obvious model: a byte of `owner` for every byte of the block, 1 where a piece has it.
def against_a_model(operations, rule=PLAIN, align=4, seed=1, every=100):
    """Random allocs and frees; returns (pieces given, refusals, checks)."""
    total = 256
    arena = Arena(total, align, rule=rule, block=0)
    owner = bytearray(total)
    live = []
    state = seed
    given = refused = checks = 0
    for step in range(operations):
        state = state * 16807 % 65521
        if state & 3 and len(live) < 60:
            n = state // 4 % 60 + 1
            size = piece_bytes(n, rule)
            largest = arena.largest
            try:
                at = arena.alloc(n)
            except NoRoom:
                assert n > largest and not has_hole(owner, size, arena.align)
                refused += 1
            else:
                assert n <= largest and at % arena.align == 0
                assert owner[at : at + size] == bytearray(size), at
                owner[at : at + size] = b"\x01" * size
                live.append((at, size))
                given += 1
        elif live:
            at, size = live.pop(state % len(live))
            arena.free(at)
            assert owner[at : at + size] == b"\x01" * size, at
            owner[at : at + size] = bytearray(size)
        else:
            raises(PoolError, arena.free, state)
        if step % every == 0:
            assert arena.check() == len(live) and arena.available == list(owner).count(0)
            gc.collect()
            checks += 1
    return given, refused, checks


def has_hole(owner, size, align):
    """Whether an aligned run of free bytes is left."""
    empty = bytearray(size)
    for at in range(0, len(owner) - size + 1, align):
        if owner[at : at + size] == empty:
            return True
    return False


def test_random_operations_against_a_model():
    import maixmem_text  # it stays: else each refusal imports it anew

    for rule, align in ((PLAIN, 4), (PLAIN, 1), ((8, 8, 16, 1), 1)):
        given, refused, checks = against_a_model(OPERATIONS, rule, align)
        assert (
            given > OPERATIONS // 10
            and refused > OPERATIONS // 100
            and checks >= OPERATIONS // 100
        )
