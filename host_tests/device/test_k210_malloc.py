# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What newlib's malloc does next, worked out by hand from its rules, each rule once."""

from maixmem_k210_chip import HELD, TRANSIENT, UNCHECKED
from maixmem_k210_malloc import Malloc

BASE = 0x80100000
PAGE = 4096
TRIM = 131072


def heap(*holes, last=None, top=64):
    """A Malloc with these holes, (bytes, offset) in order of size, and so much top at the end of
    a page."""
    at = BASE + 0x100000 - top
    found = [(n, BASE + offset) for n, offset in holes]
    return Malloc(found, last and (last[0], BASE + last[1]), at, at + top)


def holes_of(m):
    return [(n, at - BASE) for n, at in m.holes]


def last_of(m):
    return m.last and (m.last[0], m.last[1] - BASE)


def test_the_smallest_that_is_large_enough_and_the_oldest_of_equals():
    m = heap((64, 0), (4096, 0x1000), (4096, 0x8000), (9008, 0x4000))
    assert m.take(4096) - BASE == 0x1000
    assert holes_of(m) == [(64, 0), (4096, 0x8000), (9008, 0x4000)] and m.last is None


def test_what_is_left_of_a_cut_is_tried_before_others():
    m = heap((4096, 0x1000), (9008, 0x4000))
    assert m.take(1008) - BASE == 0x1000
    assert last_of(m) == (3088, 0x1000 + 1008) and holes_of(m) == [(9008, 0x4000)]
    assert m.take(2000) - BASE == 0x1000 + 1008
    assert last_of(m) == (1088, 0x1000 + 3008)


def test_what_is_too_small_for_a_request_is_put_among_the_others():
    m = heap((9008, 0x4000), last=(1088, 0x1000))
    assert m.take(2000) - BASE == 0x4000
    assert holes_of(m) == [(1088, 0x1000)] and last_of(m) == (7008, 0x4000 + 2000)


def test_one_of_the_very_size_goes_before_what_was_left():
    m = heap((208, 0x100), (4096, 0x4000), last=(9008, 0x8000))
    assert m.take(208) - BASE == 0x100 and last_of(m) == (9008, 0x8000)
    # 16 more are as good where they are in the same list: sizes of 64, 512, 4096 ... to a list
    assert m.take(4096 - 16) - BASE == 0x8000  # 4080 and 4096 are in two lists of 512
    m = heap((4112, 0x4000), last=(9008, 0x8000))
    at = m.take(4096)
    assert at - BASE == 0x4000 and m.used[at] == 4112
    m = heap((224, 0x100), last=(9008, 0x8000))  # below 512 a list has one size
    assert m.take(208) - BASE == 0x8000


def test_nothing_smaller_than_32_bytes_is_left():
    m = heap((4112, 0x4000))
    at = m.take(4096)
    assert m.used[at] == 4112 and m.last is None and m.holes == []


def test_the_top_serves_what_leaves_32_bytes_of_it_else_grows_by_the_whole():
    m = heap(top=4096)
    end = m.end
    assert m.take(4064) == end - 4096 and m.end == end and m.end - m.top == 32
    assert m.take(32) == end - 32 and m.end == end + PAGE
    m = heap(top=4096)
    m.take(4080)
    assert m.end == end + 2 * PAGE  # of its 4096 none counts


def test_the_end_of_ram_is_the_end():
    m = heap(top=64)
    m.limit = m.end + PAGE
    assert m.take(PAGE - 16) == 0 and m.end == m.limit - PAGE
    assert m.take(PAGE - 32) and m.end == m.limit


def test_neighbours_join():
    m = heap((1008, 0), (2000, 0x1000))
    a = BASE + 1008
    m.used[a] = 0x1000 - 1008
    m.give(a)
    assert holes_of(m) == [(0x1000 + 2000, 0)] and m.used == {}


def test_what_joins_the_last_remainder_is_the_last_remainder():
    m = heap((1008, 0), last=(2000, 0x1000))
    m.used[BASE + 1008] = 0x1000 - 1008
    m.give(BASE + 1008)
    assert last_of(m) == (0x1000 + 2000, 0) and m.holes == []


def test_the_oldest_of_a_size_stays_the_first():
    m = heap((1008, 0))
    m.used[BASE + 0x8000] = 1008
    m.give(BASE + 0x8000)
    assert holes_of(m) == [(1008, 0), (1008, 0x8000)]


def test_a_top_of_128_kib_goes_back_but_for_a_page():
    for n, left in ((TRIM - 64, 4096), (TRIM - 80, TRIM - 16)):
        m = heap(top=64)
        end = m.end
        m.used[m.top - n] = n
        m.give(m.top - n)
        assert m.end - m.top == left and m.end == (end if left > 4096 else m.top + left)
    m = heap((1008, 0x100000 - 64 - 1008 - 2000), top=64)
    m.used[m.top - 2000] = 2000
    m.give(m.top - 2000)
    assert m.holes == [] and m.end - m.top == 64 + 3008


def test_a_load_frees_what_is_transient_and_names_what_is_missing():
    m = heap(top=64)
    m.limit = m.end + 64 * 1024
    assert m.load((1008, 40000 | TRANSIENT | UNCHECKED, 20000)) == 0
    assert sorted(m.used.values()) == [1008, 20000]
    assert m.load((60000 | UNCHECKED, 16)) == 60000 | UNCHECKED


def test_what_is_held_goes_with_the_next_transient_one():
    m = heap(top=64)
    m.limit = m.end + 128 * 1024
    held, read = 60000 | TRANSIENT | HELD, 30000 | TRANSIENT
    assert m.load((held, read, 80000)) == 0
    m = heap(top=64)
    m.limit = m.end + 128 * 1024
    assert m.load((60000, read, 80000)) == 80000
