# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A model manager for several threads, where the interpreter may change from one to another
anywhere (CPython)."""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable
from typing import Any

# What runs alone. use() itself does not: a resident model is handed out without waiting.
_ALONE = ("_switch", "_find", "add", "forget", "loaded", "release", "release_all", "status")
# Parts that run_once() drops again: imported by two threads at a time one would drop what the
# other begins to use.
_PARTS = ("boards", "net", "recover", "report", "status", "text", "using", "watch")


# Contract. One a port, so that all its managers wait for each other. A thread waits until the
# other's load or unload is done, setup() included. Where the port says that this thread holds what
# the other may be waiting for (the with block of a model), it gets the port's error instead of
# waiting for ever.
class Guard:
    """One thread at a time in the managers of a port."""

    def __init__(self, port: Any) -> None:
        self._lock = threading.RLock()
        self._may_wait: Callable[[], None] = getattr(port, "check_may_wait", lambda: None)
        self._ended: list[Any] = []

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self._may_wait()
            self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()
        self._settle()

    def end(self, using: Any) -> None:
        """Ends a with block of using(): at once, or when who is in has left; waits for nobody."""
        self._ended.append(using)
        self._settle()

    def _settle(self) -> None:
        while self._ended and self._lock.acquire(blocking=False):
            try:
                while self._ended:
                    self._ended.pop().__exit__(None, None, None)
            finally:
                self._lock.release()


class _Using:
    """A with block of using() whose model cannot be evicted between use() and its pin."""

    def __init__(self, guard: Guard, using: Any) -> None:
        self._guard = guard
        self._using = using

    def __enter__(self) -> Any:
        with self._guard:
            return self._using.__enter__()

    def __exit__(self, *exc: object) -> None:
        self._guard.end(self._using)


def guard(port: Any, manager: Any) -> None:
    """Makes a manager of this port safe for several threads."""
    for name in _PARTS:
        importlib.import_module("maixmem_" + name)
    mine = vars(port).setdefault("_guard", Guard(port))
    for name in _ALONE:
        setattr(manager, name, _alone(mine, getattr(manager, name)))
    switch, using = manager._switch, manager.using

    def once(model: Any) -> None:
        with mine:
            if not model.ready:  # another thread may have loaded it meanwhile
                switch(model)

    manager._switch = once
    manager.using = lambda name: _Using(mine, using(name))


def _alone(mine: Guard, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **how: Any) -> Any:
        with mine:
            return method(*args, **how)

    return call
