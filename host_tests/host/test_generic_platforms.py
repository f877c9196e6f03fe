# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The generic port on boards that tell more than their GC heap: stand-ins with the calls and the
orders of their manuals."""

from __future__ import annotations

import gc
import sys
from types import SimpleNamespace

import maixmem_generic
import pytest

pytestmark = pytest.mark.usefixtures("plain_python")

K230 = {"heap": (32 << 20, 5 << 20, 27 << 20), "mmz": (256 << 20, 40 << 20, 216 << 20)}


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


def test_k230(board, monkeypatch):
    for name, told in K230.items():
        monkeypatch.setattr(gc, f"sys_{name}", lambda told=told: told, raising=False)
    monkeypatch.setattr(gc, "sys_page", lambda: (0, 0, 0), raising=False)
    port = board()
    assert rows(port) == {
        name: (*told, None) for name, told in K230.items()
    }  # page did not answer
    assert port.room("mmz") == K230["mmz"][2] and port.warnings() == []


def test_esp32_says_that_its_heaps_hold_the_gc_heap(board, monkeypatch):
    heaps = [(100000, 40000, 30000, 20000), (4 << 20, 3 << 20, 2 << 20, 1 << 20)]
    esp32 = SimpleNamespace(HEAP_DATA=4, idf_heap_info=lambda kind: heaps if kind == 4 else [])
    monkeypatch.setattr(gc, "mem_free", lambda: 1000, raising=False)
    monkeypatch.setattr(gc, "mem_alloc", lambda: 500, raising=False)
    port = board(esp32=esp32)
    total, free = 100000 + (4 << 20), 40000 + (3 << 20)
    assert rows(port)["idf"] == (total, total - free, free, 2 << 20)
    assert ["overlap" in text for text in port.warnings()] == [True]


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


@pytest.mark.parametrize("peak", [(), (9999,)])
def test_openmv(board, peak):
    port = board(umalloc=SimpleNamespace(stats=lambda: (3, 2, 1, 3000, 5000, 700, *peak)))
    assert rows(port) == {"umalloc": (8700, 3700, 5000, None)}


@pytest.mark.parametrize("name", ["esp32", "espidf", "umalloc"])
def test_a_module_of_that_name_without_the_call_says_nothing(board, name):
    assert rows(board(**{name: SimpleNamespace()})) == {}
