# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Whether malloc's lists of a K210 are whole, by the library's own rules, which go along: no look
into /flash, no malloc, and no collection of garbage, which may free."""

from maixmem_k210_fit import damage
from maixmem_k210_heap import _END, _RAM, Heap, find

_EMPTY = 64  # of malloc's 128 lists, at least: few sizes are free at a time


def message(*said):
    """What the library words: the desk does it."""
    return said


def damaged():
    """[], or where the lists are not whole and the block before that: one (name of a sentence, its
    numbers). [] too where they are not found."""
    heap = find() or not_whole()
    if not heap:
        return []
    heap.heap = heap
    heap.top = min(heap.words[heap.table + 4], _END - 16)
    return damage(heap)


def not_whole():
    """The heap by malloc's table alone: find() takes none whose lists are not whole."""
    look = Heap.look
    Heap.look = no_table
    heap = find()
    Heap.look = look
    return heap


def no_table(heap):
    """Whether too few heads of lists in a row point to themselves."""
    words = heap.words
    n = 0
    for i in range(heap.table + 4, heap.table + 512, 4):
        if words[i + 4] == _RAM + 4 * i == words[i + 6]:
            n += 1
    return n < _EMPTY
