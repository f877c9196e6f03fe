# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A model manager for several threads, where the interpreter may change from one to another
anywhere (CPython)."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from maixmem import NoRoom
from maixmem_text import tell

from maixmem_linux.turn import Turn
from maixmem_linux.whole import in_caller, wait, whole

# What runs alone. use() itself does not: a resident model is handed out without waiting.
_ALONE = ("_switch", "_find", "add", "forget", "loaded", "release", "release_all", "status")
# Parts that run_once() drops again: imported by two threads at a time one would drop what the
# other begins to use.
_PARTS = ("boards", "net", "recover", "report", "status", "text", "using", "watch")
# Seconds after which who waits for room looks again: another process may have given some back.
_AGAIN = 0.5


# Contract. One a port, so that all its managers wait for each other. A thread waits until the
# other's load or unload is done, setup() included. Where the port says that this thread holds what
# the other may be waiting for (the with block of a model), it gets the port's error instead of
# waiting for ever. `line` is held by the one thread that waits for room, those that came later
# wait for it.
class Guard:
    """One thread at a time in the managers of a port."""

    def __init__(self, port: Any) -> None:
        self._lock = Turn(f"the port {port.name}")
        self._may_wait: Callable[[], None] = getattr(port, "check_may_wait", lambda: None)
        self.through = whole if getattr(port, "uninterrupted", False) else lambda call: call
        self._ended: list[_Using] = []
        self.line = Turn(f"the port {port.name}")
        self._freed: SimpleQueue[None] = SimpleQueue()

    def __enter__(self) -> None:
        if not self._lock.acquire(0):
            self._may_wait()
            self._lock.acquire()
        self._end_all()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()
        self._settle()

    @property
    def depth(self) -> int:
        """How often this thread is in."""
        return self._lock.depth

    def back_to(self, depth: int) -> None:
        """After an interrupt: as deep as it was before."""
        self._lock.back_to(depth)
        self._settle()

    def end(self, using: _Using) -> None:
        """Ends a with block of using(): at once, or when who is in has left; waits for nobody."""
        self.forget(using)
        self.through(self._settle)()

    def forget(self, using: _Using) -> None:
        """Ends it when somebody comes in next."""
        self._ended.append(using)

    def wait_for_change(self, seconds: float) -> None:
        """Until some thread has been in, or a with block has ended, since the last time."""
        wait(self._freed, seconds)
        while not self._freed.empty():
            wait(self._freed, 0)

    def _settle(self) -> None:
        while self._ended and self._lock.acquire(0):
            try:
                self._end_all()
            finally:
                self._lock.release()
        if self.line.taken and self._freed.empty():
            self._freed.put(None)

    def _end_all(self) -> None:
        while self._ended:
            self._ended.pop().unpin()


# Contract. An interrupt leaves no pin: entered as whole work, and where the with statement did not
# get to its block, or its end did not come here, the pin goes with the object.
class _Using:
    """A with block of using() whose model cannot be evicted between use() and its pin; with
    `seconds` it is entered when there is room, first come, first served."""

    _pinned = False

    def __init__(self, guard: Guard, using: Any, seconds: float | None) -> None:
        self._guard = guard
        self._using = using
        self._seconds = seconds

    def __enter__(self) -> Any:
        try:
            return self._guard.through(self._enter)()
        except BaseException:
            self._leave()
            raise

    def _enter(self) -> Any:
        return self._pin() if self._seconds is None else self._in_turn(self._seconds)

    def _pin(self) -> Any:
        depth = self._guard.depth
        try:
            with self._guard:
                net = self._using.__enter__()
                self._pinned = True
                return net
        except BaseException:
            self._guard.back_to(depth)
            raise

    def unpin(self) -> None:
        """Takes its pin from the model; once."""
        if self._pinned:
            self._pinned = False
            self._using.__exit__(None, None, None)

    def _in_turn(self, seconds: float) -> Any:
        line, depth = self._guard.line, self._guard.line.depth
        end = time.monotonic() + seconds
        try:
            if not line.acquire(seconds):
                text = (
                    "{}: no room in {} seconds, others were before it.\nwait longer, or release() "
                )
                raise NoRoom(tell(text + "a model", self._using.name, seconds), "slots", 1, 0)
            while True:
                try:
                    return self._pin()
                except NoRoom as e:
                    left = end - time.monotonic()
                    if left <= 0:
                        raise
                    e.__traceback__ = None  # it would keep what the attempt held
                self._guard.wait_for_change(min(left, _AGAIN))
        finally:
            line.back_to(depth)

    def __exit__(self, *exc: object) -> None:
        self._guard.end(self)

    def _leave(self) -> None:
        if self._pinned:
            self._guard.forget(self)

    __del__ = _leave


def guard(port: Any, manager: Any) -> None:
    """Makes a manager of this port safe for several threads."""
    for name in _PARTS:
        importlib.import_module("maixmem_" + name)
    mine = vars(port).setdefault("_guard", Guard(port))
    growth = getattr(port, "growth", contextlib.nullcontext())
    for name in _ALONE:
        setattr(manager, name, mine.through(_alone(mine, growth, getattr(manager, name))))
    switch, using, add = manager._switch, manager.using, manager.add
    stamps: dict[Any, Any] = {}

    def once(model: Any) -> None:
        with mine, growth:
            now = _stamp(model.source)
            if now != stamps.get(model.name):  # inspected again: what it said may be untrue
                stamps[model.name], model.cost = now, None
            if not model.ready:  # another thread may have loaded it meanwhile
                switch(model)

    @functools.wraps(add)
    def with_setup(name: Any, source: Any, setup: Any = None, *more: Any, **how: Any) -> None:
        stamp = _stamp(source)
        add(name, source, setup and in_caller(setup), *more, **how)
        stamps[name] = stamp

    manager._switch = mine.through(once)
    manager.add = with_setup
    manager.using = lambda name, wait=None: _Using(mine, using(name), wait)


# What tells whether a file is still the one that was inspected; None of what is no file.
def _stamp(source: Any) -> Any:
    try:
        found = os.stat(source) if isinstance(source, (str, os.PathLike)) else None
    except (OSError, ValueError):
        return None
    return found and (found.st_ino, found.st_size, found.st_mtime_ns)


def _alone(mine: Guard, growth: Any, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **how: Any) -> Any:
        with mine, growth:
            return method(*args, **how)

    return call
