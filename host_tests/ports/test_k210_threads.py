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
import k210_threads
import maixmem
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


def test_a_thread_gets_its_stack_from_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(k210_threads, "get_ident", lambda: 1, raising=False)
    monkeypatch.setattr(maixmem_k210, "_thread", k210_threads)
    monkeypatch.setitem(sys.modules, "_thread", k210_threads)
    for name in ("maixmem_k210_stack", "maixmem_auto_thread"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import maixmem_kpu as kpu

    model = v3((28, 28, 1), [("conv", 16), ("raw", 2, 1_000_000)], main_mem=20000)
    board.reset("full", flash=dict.fromkeys(ADDRESSES, model))
    maixmem.set_port(None)
    monkeypatch.setattr(kpu, "_m", kpu._Manager(keep=5))
    for name in ("maixmem_kpu_room", "maixmem_kpu_load", "maixmem_auto_thread"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import maixmem_auto_thread as thread

    nets = [kpu.load(at) for at in ADDRESSES[:2]]
    assert [net.model_addr() for net in nets] == [*ADDRESSES[:2]]
    k210_threads.stack_size(400_000)
    started = 0
    with pytest.raises(maixmem.NoRoom) as caught:
        for _ in range(20):
            thread.start_new_thread(print, ())
            started += 1
    assert started and not kpu._m.loaded()
    assert caught.value.region == "stack" and caught.value.need == 400_000 > caught.value.free
    assert "400000 bytes of stack takes 402256 bytes of system heap" in str(caught.value)
    assert k210_threads.stack_size() == 400_000
    k210_threads.stack_size(400_000)
    with pytest.raises(board.DeviceCrash):
        k210_threads.start_new_thread(print, ())
