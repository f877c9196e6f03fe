# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The generic port on boards that tell more than their GC heap: stand-ins with the calls and the
orders of their manuals."""

from __future__ import annotations

import gc
import sys
from types import SimpleNamespace

import maixmem_generic
import maixmem_report
import pytest

pytestmark = pytest.mark.usefixtures("plain_python")


@pytest.fixture
def board(monkeypatch):
    """Puts modules of a board in place; the computer's own memory is hidden."""
    monkeypatch.setattr(maixmem_generic, "meminfo", dict)

    def put(**modules: SimpleNamespace) -> maixmem_generic.Port:
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, module)
        return maixmem_generic.Port()

    return put


def rows(port: maixmem_generic.Port) -> dict:
    return {r.name: (r.total, r.used, r.free, r.largest) for r in port.regions()}


POOL = 63936  # of 64 KiB, as gc_setup_area() of MicroPython makes it: whole groups of four blocks
USED = 20000
# largest block of each heap, so that the GC heap's own size is told from what it could take
IDF = [(100000, 40000, 30004, 20000), (4 << 20, 3 << 20, (2 << 20) - 24, 1 << 20)]


def gc_heap(monkeypatch, total: int) -> None:
    """An interpreter of 32 bits whose counters are these, and which is never asked for a block."""

    def tried(limit: int) -> int:
        raise AssertionError("the heap was tried out")

    monkeypatch.setattr(sys, "maxsize", 0x7FFFFFFF)
    monkeypatch.setattr(gc, "mem_alloc", lambda: USED, raising=False)
    monkeypatch.setattr(gc, "mem_free", lambda: total - USED, raising=False)
    monkeypatch.setattr(maixmem_report, "largest_block", tried)


def idf(heaps: list) -> SimpleNamespace:
    return SimpleNamespace(HEAP_DATA=4, idf_heap_info=lambda kind: heaps if kind == 4 else [])


def test_esp32_whose_gc_heap_grows_is_asked_not_tried(board, monkeypatch):
    piece = IDF[1][2]
    gc_heap(monkeypatch, POOL + piece)
    port = board(esp32=idf(IDF))
    total, free = 100000 + (4 << 20), 30004 + piece
    grown, idf_region = port.regions()
    assert idf_region.name == "idf" and idf_region.exact and idf_region.largest == piece
    assert (idf_region.total, idf_region.free) == (total, 40000 + (3 << 20)), free
    assert grown.exact is False and grown.used == USED
    assert piece * 31 // 32 - 2100 < grown.largest <= piece - piece // 40 - 2048
    assert grown.largest < grown.free < gc.mem_free() == POOL - USED + piece
    assert grown.total == grown.used + grown.free and port.room("gc") == grown.largest
    assert ["may grow" in port.warnings()[0], "overlap" in port.warnings()[1]] == [True, True]


def test_esp32_before_1_20_has_a_heap_of_fixed_size(board, monkeypatch):
    gc_heap(monkeypatch, POOL)
    monkeypatch.setattr(maixmem_report, "largest_block", lambda limit: limit // 2)
    port = board(esp32=idf(IDF))
    grown = port.regions()[0]
    assert (grown.total, grown.free, grown.largest) == (POOL, POOL - USED, (POOL - USED) // 2)
    assert grown.exact and ["overlap" in text for text in port.warnings()] == [True]


@pytest.mark.parametrize("piece", [64 * 1000, 30004 + 8])
def test_a_piece_that_the_counters_do_not_tell_apart_is_not_tried(board, monkeypatch, piece):
    """A piece of whole groups; one that another task has changed meanwhile."""
    gc_heap(monkeypatch, POOL + piece)
    grown = board(esp32=idf([(100000, 70000, 64 * 1000, 1)])).regions()[0]
    assert (grown.largest, grown.exact) == (None, False)


def told(name: str, version: tuple) -> SimpleNamespace:
    return SimpleNamespace(**{**vars(sys.implementation), "name": name, "version": version})


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("platform", "webassembly"),
        ("implementation", told("circuitpython", (9, 2, 1))),
        ("implementation", told("circuitpython", (10, 0, 0))),
    ],
)
def test_a_heap_that_grows_without_a_call_that_tells(board, monkeypatch, attribute, value):
    gc_heap(monkeypatch, POOL + (128 << 20))
    port = board()
    monkeypatch.setattr(sys, attribute, value)
    [grown] = port.regions()
    assert (grown.used, grown.largest, grown.exact) == (USED, None, False)
    assert POOL - USED < grown.free < gc.mem_free() and "may grow" in port.warnings()[0]


def test_circuitpython_before_9_tells_a_bound_and_does_not_grow(board, monkeypatch):
    gc_heap(monkeypatch, POOL)
    monkeypatch.setattr(maixmem_report, "largest_block", lambda limit: limit // 2)
    port = board()
    monkeypatch.setattr(sys, "implementation", told("circuitpython", (8, 2, 7)))
    [gc_region] = port.regions()
    assert (gc_region.free, gc_region.largest) == (POOL - USED, (POOL - USED) // 2)
    assert gc_region.exact is False and port.warnings() == []


def test_counters_that_no_fixed_heap_can_have_are_those_of_one_that_grows(board, monkeypatch):
    gc_heap(monkeypatch, POOL + 167928)
    [grown] = board().regions()
    assert (grown.largest, grown.exact) == (None, False)


def test_circuitpython(board):
    port = board(
        espidf=SimpleNamespace(
            heap_caps_get_total_size=lambda: 300000,
            heap_caps_get_free_size=lambda: 200000,
            heap_caps_get_largest_free_block=lambda: 120000,
        )
    )
    assert rows(port) == {"idf": (300000, 100000, 200000, 120000)}
    assert port.warnings() == []


@pytest.mark.parametrize("name", ["esp32", "espidf"])
def test_a_module_of_that_name_without_the_call_says_nothing(board, name):
    assert rows(board(**{name: SimpleNamespace()})) == {}
