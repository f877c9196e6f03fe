# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Readers of heaps alone: the table of blocks as text, blocks as bits, words as numbers and names,
dominators against the removal of each node."""

from __future__ import annotations

import random

import pytest
from maixmem_cli.heap import blocks, table, threads
from maixmem_cli.heap.layout import Layout
from maixmem_cli.heap.memory import Pages, Ram
from maixmem_cli.snapshot.graph import _ALL, _dominators, _reverse_postorder

#: as py/gc.c prints a heap of two areas (MICROPY_GC_SPLIT_HEAP), 16 bytes a block
TWO_AREAS = """GC: total: 5120, used: 112, free: 5008
 No. of 1-blocks: 1, 2-blocks: 1, max blk sz: 4, max free sz: 61
GC memory layout; from 3ffb0000:
00000000: h=..............................................................
       (2 lines all free)
00000c00: L===............................................................
GC memory layout; from 3ffe0010:
00000000: m...............................................................
"""


def test_each_area_of_a_table():
    first, second = table.areas(TWO_AREAS, 16)
    assert (first.pool, first.end, second.pool) == (0x3FFB0000, 0x3FFB1000, 0x3FFE0010)
    assert first.sizes == {0x3FFB0000: 32, 0x3FFB0C00: 64}
    assert second.sizes == {0x3FFE0010: 16}
    assert first.free_runs == [190 * 16, 60 * 16]


@pytest.mark.parametrize(
    "text", ["", "GC: total: 64\n", TWO_AREAS.replace("(2 lines", "(1 lines")]
)
def test_a_table_that_is_cut(text):
    with pytest.raises(ValueError, match=r"micropython\.mem_info"):
        table.areas(text, 16)


def test_blocks_are_two_bits():
    states = bytes(random.Random(1).choices(range(4), k=1001))
    packed = blocks.packed(states)
    assert len(packed) == 251 and blocks.states(packed)[:1001] == states


@pytest.mark.parametrize(
    ("empty", "word", "number"),
    [(6, 8, (11, 5)), (10, 4, (11, 5)), (7, 4, (21, 5)), (11, 4, (21, 5)), (22, 4, (11, 5))],
)
def test_numbers_and_names_of_a_representation(empty, word, number):
    layout = Layout(word, empty)
    assert layout.name(empty) == 1 and layout.name_word(1) == empty
    assert layout.number(number[0]) == number[1] and layout.name(number[0]) is None
    minus = (1 << 8 * word) - (1 if empty not in (7, 11) else 3)
    assert layout.number(minus) == -1


@pytest.mark.parametrize("seed", range(40))
def test_what_is_retained_is_what_removal_frees(seed):
    r = random.Random(seed)
    nodes = list(range(30))
    refers = {n: r.sample(nodes, r.randrange(4)) for n in nodes}
    refers[_ALL] = r.sample(nodes, 4)
    order = _reverse_postorder(refers)
    found = _dominators(refers, order)
    whole = _reached(refers, None)
    assert set(order) - {_ALL} == whole
    for gone in whole:
        lost = whole - _reached(refers, gone)
        assert lost == {n for n in whole if gone in _above(found, n)}


def _reached(refers, without):
    seen, todo = set(), list(refers[_ALL])
    while todo:
        node = todo.pop()
        if node != without and node not in seen:
            seen.add(node)
            todo += refers[node]
    return seen


def _above(found, node):
    out = {node}
    while node != _ALL:
        node = found[node]
        out.add(node)
    return out


def test_a_page_that_came_stays_and_nothing_comes_after_the_end():
    """A thread changes what is read twice; an agent that has ended is not asked."""
    asked = []

    def ask(ranges):
        asked.append(ranges)
        return [bytes([len(asked)]) * (high - low) for low, high in ranges]

    pages = Pages(4, 16, [(0, 256)], ask)
    pages.need(16, 16)
    assert pages.fetch() and pages.word(16) == 0x01010101
    pages.need(0, 16)
    pages.need(32, 16)  # the page between them comes again
    assert pages.fetch() and asked[-1] == [(0, 48)]
    assert (pages.word(0), pages.word(16), pages.word(32)) == (0x02020202, 0x01010101, 0x02020202)
    assert pages.missed()
    pages.seal()
    assert pages.word(64) == 0 and not pages.missed() and not pages.fetch() and len(asked) == 2


def test_threads_of_a_list():
    """Nodes as MaixPy and ESP32 have them: task, ready, arguments, stack, words of it, next."""
    words = [0] * 64
    words[0:6] = 0x1080, 1, 0, 0x1040, 8, 0  # sleeps: its task's first word is in its stack
    words[6:12] = 0x10A0, 0, 0, 0x1060, 8, 0  # has ended
    words[12:18] = 0x10C0, 1, 0, 0x1060, 8, 0  # of another stack
    words[18:24] = 0x10A0, 1, 0, 0x1060, 8, 0  # who asks
    words[32], words[40], words[48] = 0x1054, 0x1068, 0x1044
    memory = Ram(b"".join(n.to_bytes(4, "little") for n in words), 0x1000, 4)
    nodes = [0x1000 + 4 * n for n in (0, 6, 12, 18, 24)]
    found = list(threads.of_script(memory, nodes, (0x1070, 0x1080), 8))
    assert found == [threads.Thread(0x1000, (0x1054, 0x1068))]
