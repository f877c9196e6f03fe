# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What each load costs a process's heap for good is said, and nothing else is taken for it."""

from __future__ import annotations

import maixmem
import pytest
from maixmem_linux import process
from maixmem_models import ModelManager
from rknn_raw import small

STEP = 132 << 10  # in which a C library grows its heap


@pytest.mark.parametrize("each, said", [(0, 0), (500, 0), (8 << 10, 8), (30 << 10, 30)])
def test_a_runtime_that_keeps_some_of_each_load(boards, monkeypatch, each, said):
    raw, p = boards()
    heap = {"contexts": 0, "program": 0}

    def heap_bytes():
        made = len(raw.runtime._contexts)
        kept = made * each // 2  # two contexts a load: one asks for what it takes
        return (kept + 40_000 * len(raw.runtime.contexts())) // STEP * STEP + heap["program"]

    monkeypatch.setattr(process, "heap_bytes", heap_bytes)
    m = ModelManager(p, keep=2)
    for name in "abc":
        m.add(name, small(name))
    for i in range(120):
        m.use("abc"[i % 3])
        heap["program"] += 50_000  # what the program takes between loads is its own
    texts = p.warnings()
    if not said:
        assert texts == []
        return
    (text,) = texts
    kept = float(text.split("costs ")[1].split()[0])
    assert text.startswith("each load costs ") and said * 0.7 < kept < said * 1.3, text
    assert "keep models loaded, or restart the process now and then" in text
    maixmem.set_port(p)
    try:
        assert maixmem.report(out=lambda line: None)["warnings"] == [text]
    finally:
        maixmem.set_port(None)


def test_a_few_loads_prove_nothing(boards, monkeypatch):
    raw, p = boards()
    monkeypatch.setattr(process, "heap_bytes", lambda: 100_000 * len(raw.runtime._contexts))
    for _ in range(20):
        p.unload(p.load(small("a")))
    assert p.warnings() == []
