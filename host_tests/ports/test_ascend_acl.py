# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Ascend 310: the stand-in keeps the rules of pyACL."""

from __future__ import annotations

import pytest
from ascend_kit import MIB, acl, board, start, taken


@pytest.fixture(autouse=True)
def fresh_board() -> None:
    start()


@pytest.fixture
def rt():
    """acl.rt in a thread that has a context."""
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    return acl.rt


def test_nothing_works_before_init():
    for call, failed in (
        (lambda: acl.rt.set_device(0), 100001),
        (lambda: acl.rt.create_context(0), (0, 100001)),
        (lambda: acl.rt.malloc(64, 0), (0, 100001)),
    ):
        assert call() == failed
    assert (acl.init(), acl.init(), acl.rt.set_device(0)) == (0, 100002, 0)


def test_nothing_works_before_there_is_a_context():
    acl.init()
    for call, failed in (
        (lambda: acl.rt.malloc(64, 0), (0, 107002)),
        (lambda: acl.rt.malloc_host(64), (0, 107002)),
        (lambda: acl.media.dvpp_malloc(64), (0, 107002)),
        (lambda: acl.rt.get_mem_info(0), (0, 0, 107002)),
        (lambda: acl.mdl.query_size("a.om"), (0, 0, 107002)),
        (lambda: acl.mdl.load_from_file("a.om"), (0, 107002)),
        (lambda: acl.rt.free(1), 107002),
    ):
        assert call() == failed
    context, code = acl.rt.create_context(0)
    assert code == 0 and context
    assert acl.rt.malloc(64, 0)[1] == 0


def test_free_comes_first_in_get_mem_info_and_a_wrong_attribute_is_zero(rt):
    ptr, _ = rt.malloc(3 * MIB, 0)
    free, total, code = rt.get_mem_info(0)
    assert code == 0 and free == total - 4 * MIB  # two huge pages
    assert rt.get_mem_info(2)[1] + rt.get_mem_info(3)[1] == total
    for attr in (1, 4, 5, 6, 9, 10, -1):
        assert rt.get_mem_info(attr)[:2] == (0, 0)
    rt.free(ptr)


def test_sizes_are_rounded_to_32_and_32_more_and_dvpp_to_pages(rt):
    for n, size in ((1, 64), (32, 64), (33, 96), (64, 96), (1000, 1056)):
        ptr, code = rt.malloc(n, 2)
        assert code == 0 and ptr % 64 == 0 and board.live("device") == size
        rt.free(ptr)
    for n, size in (
        (1, 2 * MIB),
        (2 * MIB - 32, 2 * MIB),
        (2 * MIB - 31, 4 * MIB),
        (3133440, 4 * MIB),
    ):
        ptr, code = acl.media.dvpp_malloc(n)
        assert code == 0 and ptr % 128 == 0 and board.live("dvpp") == size
        acl.media.dvpp_free(ptr)
    assert rt.malloc(0, 0) == (0, 100000) and acl.media.dvpp_malloc(0) == (0, 100000)
    assert rt.malloc(64, 3) == (0, 207000)


def test_out_of_memory_is_a_code(rt):
    board.pages.update(normal=1000, huge=2 * MIB)
    assert rt.malloc(1000, 2) == (0, 207001)
    assert acl.media.dvpp_malloc(2 * MIB) == (0, 207001)
    assert acl.media.dvpp_malloc(2 * MIB - 32)[1] == 0


def test_each_kind_is_freed_by_its_own_call_only(rt):
    calls = {
        "device": (lambda: rt.malloc(64, 0), rt.free),
        "host": (lambda: rt.malloc_host(64), rt.free_host),
        "dvpp": (lambda: acl.media.dvpp_malloc(64), acl.media.dvpp_free),
    }
    for kind in calls:
        ptr, _ = calls[kind][0]()
        for other in calls:
            if other != kind:
                assert calls[other][1](ptr) != 0 and ptr in board.blocks
        assert calls[kind][1](ptr) == 0
        assert calls[kind][1](ptr) != 0


def with_mem(rt, path: str, work: int, weight: int):
    w, _ = rt.malloc(work, 0)
    x, _ = rt.malloc(weight, 0)
    return acl.mdl.load_from_file_with_mem(path, w, work, x, weight), w, x


def test_memory_that_is_too_small_or_in_use_is_refused(rt):
    assert acl.mdl.query_size("a.om") == (MIB, 2 * MIB, 0)
    assert acl.mdl.query_size("none.om") == (0, 0, 145002)
    assert with_mem(rt, "a.om", MIB - 1, 2 * MIB)[0] == (0, 145000)
    assert with_mem(rt, "a.om", MIB, 2 * MIB - 1)[0] == (0, 500002)
    (number, code), work, weight = with_mem(rt, "a.om", MIB, 2 * MIB)
    assert code == 0
    assert rt.free(work) == rt.free(weight) == 207002
    assert acl.mdl.unload(number) == 0 and acl.mdl.unload(number) == 145003
    assert rt.free(work) == rt.free(weight) == 0


def test_load_from_file_takes_both_and_unload_gives_both_back(rt):
    number, code = acl.mdl.load_from_file("a.om")
    assert code == 0 and board.live() == taken(MIB) + taken(2 * MIB)
    assert acl.mdl.unload(number) == 0 and board.live() == 0
    board.pages.update(normal=0, huge=2 * MIB)
    assert acl.mdl.load_from_file("a.om") == (0, 207001) and board.live() == 0


def test_two_models_at_once_in_one_work_memory_destroy_each_other(rt):
    work, _ = rt.malloc(3 * MIB, 0)
    numbers = [
        acl.mdl.load_from_file_with_mem(p, work, 3 * MIB, 0, 0)[0] for p in ("a.om", "b.om")
    ]
    buf = acl.create_data_buffer(rt.malloc(64, 0)[0], 64)
    streams = [rt.create_stream()[0] for _ in range(2)]
    assert acl.mdl.execute_async(numbers[0], [buf], [buf], streams[0]) == 0
    with pytest.raises(board.MemoryCorruption):
        acl.mdl.execute_async(numbers[1], [buf], [buf], streams[1])
    assert (
        acl.mdl.execute_async(numbers[1], [buf], [buf], streams[0]) == 0
    )  # one stream is a queue
    assert rt.synchronize_stream(streams[0]) == 0
    assert acl.mdl.execute(numbers[1], [buf], [buf]) == 0


def test_a_model_belongs_to_its_context(rt):
    number, _ = acl.mdl.load_from_file("a.om")
    acl.rt.create_context(0)
    assert acl.mdl.unload(number) == 107004
    rt.set_context(0)
    assert acl.mdl.unload(number) == 0
