# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Several threads and one model manager: random calls at once, and whether manager and port still
agree."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from typing import Any

from maixmem import KModelError, NoRoom
from maixmem_models import ModelManager, ModelReleasedError

# What a call may end with while memory runs out and another thread releases; all else is a fault
# of ours.
_EXPECTED = (NoRoom, KModelError, ModelReleasedError)


class _Caller(threading.Thread):
    """One thread that calls `steps` times, by its seed; `error` is what it ended with."""

    def __init__(self, manager: ModelManager, sources: list[Any], steps: int, seed: Any) -> None:
        super().__init__()
        self.manager = manager
        self.sources = sources
        self.steps = steps
        self.random = random.Random(str(seed))
        self.error: BaseException | None = None
        self.done = self.refused = 0

    def run(self) -> None:
        calls = [self.use] * 6 + [self.using] * 3 + [self.release] * 3 + [self.add, self.look]
        try:
            for _ in range(self.steps):
                try:
                    self.random.choice(calls)()
                except _EXPECTED:
                    self.refused += 1
                self.done += 1
        except BaseException as e:
            self.error = e

    def name(self) -> Any:
        return self.random.choice(list(self.manager.models))

    def use(self) -> None:
        self.manager.use(self.name())

    def using(self) -> None:
        with self.manager.using(self.name()) as net:
            assert net.raw is not None  # nobody evicts it; release() may

    def release(self) -> None:
        self.manager.release(self.name())

    def add(self) -> None:
        name = f"{threading.get_ident()} {self.done}"
        if len(self.manager.models) < 2 * len(self.sources):
            source, how = self.random.choice(self.sources)
            self.manager.add(name, source, **how)

    def look(self) -> None:
        self.manager.status(lambda line: None)
        self.manager.loaded()


def hammer(
    manager: ModelManager, sources: list[Any], steps: int, seed: int = 0, threads: int = 2
) -> tuple[int, int]:
    """(calls, calls that were refused) of several threads at once; raises what one of them should
    not have met.

    `sources`: [(source, how)].
    """
    for i, (source, how) in enumerate(sources):
        manager.add(i, source, **how)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    callers = [_Caller(manager, sources, steps // threads, (seed, i)) for i in range(threads)]
    try:
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(500)
    finally:
        sys.setswitchinterval(interval)
    assert not [1 for caller in callers if caller.is_alive()], "a thread hangs"
    for caller in callers:
        if caller.error:
            raise caller.error
    return sum([c.done for c in callers]), sum([c.refused for c in callers])


def handles(manager: ModelManager) -> list[int]:
    """What the manager holds, to compare with what the port holds."""
    return sorted([id(m.handle) for m in manager.models.values() if m.handle is not None])


def failing(chance: float, seed: int, fits: Callable[..., bool]) -> Callable[..., bool]:
    """`fits`, that says no so often, whatever there is."""
    dice = random.Random(seed)
    return lambda *args: dice.random() >= chance and fits(*args)
