# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Work that no signal cuts short: Ctrl-C and alarms are raised when it is done.

Python raises what a signal handler raises in the main thread, between any two steps of it: what a
native call has just returned is lost then. So such work of the main thread is done by another
thread, which stays for the next, while the main thread waits. An interrupt of the wait is raised
once the work has come to an end: a whole one, or all taken back where the work was waiting for
somebody or for a function of the program (setup()), which it ends.
"""

from __future__ import annotations

import _thread
import collections
import contextlib
import functools
import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])
_here = threading.local()
_work: "SimpleQueue[_Task]" = SimpleQueue()
# Threads that there are, and those that work: each counts itself, where no interrupt comes.
_threads: collections.deque[None] = collections.deque()
_busy: collections.deque[None] = collections.deque()


def _forked() -> None:
    global _work
    _work = SimpleQueue()  # the threads are the parent's
    _threads.clear()
    _busy.clear()


os.register_at_fork(after_in_child=_forked)


def caller() -> int:
    """The thread that requested what is done here: another than this one within whole work."""
    task = getattr(_here, "task", None)
    return task.caller if task else _thread.get_ident()


def whole(function: _F) -> _F:
    """A function that comes to its end, whatever signals arrive meanwhile."""

    @functools.wraps(function)
    def call(*args: Any, **how: Any) -> Any:
        main = _thread.get_ident() == threading.main_thread().ident
        if not main or getattr(_here, "task", None):
            return function(*args, **how)
        return _Task(lambda: function(*args, **how)).result()

    return call  # type: ignore[return-value]


def in_caller(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` for whole work to call: it runs in the requesting thread, where signals end
    it."""

    @functools.wraps(function)
    def call(*args: Any, **how: Any) -> Any:
        task = getattr(_here, "task", None)
        work = lambda: function(*args, **how)  # noqa: E731
        return task.ask(work) if task else work()

    return call


def wait(gate: SimpleQueue[None], seconds: float | None = None) -> None:
    """Waits until something is put into `gate`, for at most so many seconds. Whole work is
    interrupted here: once, with what interrupted the requesting thread."""
    task = getattr(_here, "task", None)
    if task:
        task.gate = gate
        task.check_stop()
    with contextlib.suppress(Empty):
        gate.get(timeout=seconds)
    if task:
        task.gate = None
        task.check_stop()


class _Call:
    """A function that runs in the requesting thread, and how it ended."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.answered = False
        self.outcome: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run(self) -> None:
        """Calls it; what it raises is raised where it was requested."""
        value = error = None
        try:
            value = self.function()
        except BaseException as e:
            error = e
        self.answer(value, error)

    def answer(self, value: Any, error: BaseException | None) -> None:
        """Ends the wait for it. The order matters: answering twice is harmless, never is not."""
        self.outcome.put((value, error))
        self.answered = True


# Contract. One piece of work. Every step that the two threads wait for is written down before it
# is told (`_ended`, `_pending`): an interrupt may come between any two steps of the thread that
# asked, and lose what it was told. Whoever has `_claim` does the work or has it not done.
class _Task:
    """Work in a thread of its own."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.caller = caller()
        self.gate: SimpleQueue[None] | None = None  # what it waits for
        self._do = work
        self._claim = _thread.allocate_lock()
        self._news: SimpleQueue[None] = SimpleQueue()
        self._stops: collections.deque[BaseException] = collections.deque()
        self._pending: _Call | None = None
        self._ended = False
        self._value: Any = None
        self._error: BaseException | None = None

    # --- in the thread that asked ---

    def result(self) -> Any:
        """Does the work and returns what it returns; an interrupt is raised when it has ended."""
        try:
            if not self._start() and self._claim.acquire(False):
                self._ended = True
                return self._do()  # this process can have no more threads
            self._attend()
        except BaseException as e:
            if not self._claim.acquire(False):
                self._stops.append(e)
                if self.gate:
                    self.gate.put(None)
                self._attend()
            raise
        error, self._error = self._error, None
        if error is None:
            return self._value
        try:
            raise error
        finally:
            del error  # else its traceback keeps all that failed alive

    def _start(self) -> bool:
        if len(_busy) >= len(_threads):
            try:
                _thread.start_new_thread(_worker, (_work,))
            except (RuntimeError, MemoryError):
                return False
        _work.put(self)
        return True

    def _attend(self) -> None:
        while not self._ended:
            call = self._pending
            if call is None or call.answered:
                self._news.get()
                continue
            stop = self._take_stop()
            if stop:
                call.answer(None, stop)
            else:
                call.run()

    # --- in its own ---

    def run(self) -> None:
        """Does the work, once, where nobody has claimed it."""
        if not self._claim.acquire(False):
            return
        _busy.append(None)
        _here.task = self
        try:
            self._value = self._do()
        except BaseException as e:
            self._error = e
        _here.task = None
        self._do = _nothing  # what it refers to is the caller's again
        _busy.pop()
        self._ended = True
        self._news.put(None)

    def ask(self, function: Callable[[], Any]) -> Any:
        """What `function` returns or raises in the thread that requested the work."""
        call = self._pending = _Call(function)
        self._news.put(None)
        value, error = call.outcome.get()
        self._pending = None
        if error is not None:
            raise error
        return value

    def check_stop(self) -> None:
        """Raises what interrupted the requesting thread; once."""
        stop = self._take_stop()
        if stop:
            raise stop

    def _take_stop(self) -> BaseException | None:
        try:
            return self._stops.pop()
        except IndexError:
            return None


def _nothing() -> None:
    pass


def _worker(work: SimpleQueue[_Task]) -> None:
    _threads.append(None)
    while True:
        work.get().run()
