# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Threads of a K210 in one model manager: on CPython, which changes from one to another anywhere,
so more often than the board."""

from __future__ import annotations

import _thread
import random
import sys
import threading
import traceback
from collections.abc import Iterator

import k210_board as board
import maixmem_k210
import pytest
from kmodel_build import v3
from maixmem_models import ModelManager

ADDRESSES = tuple(range(0x300000, 0xB00000, 0x200000))


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Threads change as often as can be. CPython's takes no stack of the board's size, so the port
    thinks that there are none."""
    monkeypatch.setattr(maixmem_k210, "_thread", _thread)
    for name in [*vars(ModelManager)]:  # as it is, after this test
        if name[:2] != "__":
            monkeypatch.setattr(ModelManager, name, getattr(ModelManager, name))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_two_threads_do_not_take_it_apart(often: None) -> None:
    model = v3((28, 28, 1), [("conv", 16), ("raw", 2, 700000)], main_mem=20000)
    board.reset("full", flash=dict.fromkeys(ADDRESSES, model))
    free = board.heap.heap_free()
    m = ModelManager(keep=2)
    for at in ADDRESSES:
        m.add(at, at, setup=lambda net: m.loaded())
    wrong = []

    def turns(seed: int) -> None:
        own = random.Random(seed)
        try:
            for _ in range(60):
                at = own.choice(ADDRESSES)
                if own.random() < 0.7:
                    m.use(at)
                else:
                    m.release(at)
                assert len(m.loaded()) <= 2
        except BaseException:
            wrong.append(traceback.format_exc())

    threads = [threading.Thread(target=turns, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not wrong, wrong[0]
    m.release_all()
    assert board.heap.heap_free() >= free
