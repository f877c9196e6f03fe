# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A snapshot that the board writes: the heap without an allocation, the same size each time; a
clear error where it cannot be."""

import gc
import os

import maixmem_snapshot
from devtest import Skip, heap_locked, raises

NEEDS = ("not mp2019",)  # it has no files
PATH = "maixmem_try.heap"


def made():
    """What save() begins with. Skip where this interpreter has not what it takes."""
    try:
        return maixmem_snapshot._Board()
    except (ImportError, AttributeError, NotImplementedError) as e:
        raise Skip("no snapshot here: {}".format(e))


def test_the_heap_is_written_while_nothing_may_be_allocated():
    board = made()
    with open(PATH, "wb") as file:
        board.file = file
        board.written = 0
        board._bytes(b"")  # a file may get its buffer with the first bytes
        heap_locked(board.heap)
    assert board.written == os.stat(PATH)[6] > gc.mem_alloc()
    os.remove(PATH)


def test_a_file_is_whole_and_a_second_one_keeps_nothing():
    made()
    maixmem_snapshot.save(PATH)
    gc.collect()
    before = gc.mem_alloc()
    n = maixmem_snapshot.save(PATH)
    gc.collect()
    assert gc.mem_alloc() - before <= 64, gc.mem_alloc() - before  # a name
    assert os.stat(PATH)[6] == n
    with open(PATH, "rb") as file:
        data = file.read()
    assert data.startswith(b"maixmem-heap 1\n") and data.endswith(b"\nend\n")
    for kind in (b"board word=", b"garbage collected\n", b"area ", b"memory ", b"name 1 0\n"):
        assert b"\n" + kind in data, kind
    os.remove(PATH)


def test_where_it_cannot_be_nothing_is_written():
    try:
        made()
    except Skip as e:
        error = raises(NotImplementedError, maixmem_snapshot.save, PATH)
        assert "snapshot" in str(error) or "areas" in str(error), error
        assert PATH not in os.listdir("."), e
        return
    assert raises(OSError, maixmem_snapshot.save, "/no/such/folder/x.heap").args


def test_a_thread_is_refused():
    board = made()
    board.asker = 1  # as where another state runs
    error = raises(NotImplementedError, board._stack)
    assert "thread" in str(error)
