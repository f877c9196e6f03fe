# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A lock that threads get in the order in which they came, and that whole work has for the thread
that requested it."""

from __future__ import annotations

import collections
import contextlib
import os
import time
from queue import SimpleQueue

from maixmem_text import tell

from maixmem_linux.whole import caller, wait


class ForkError(RuntimeError):
    """Something of the parent process was used in a child that was forked from it."""


def check_process(name: object, process: int) -> None:
    """ForkError in a child of that process: what `name` owns is its parent's."""
    if os.getpid() != process:
        text = "{} belongs to process {}, from which this one was forked: the parent's memory is "
        text += "not touched.\nload models after the fork, or start the child by spawn"
        raise ForkError(tell(text, name, process))


class _Place:
    """One thread in the line: `depth` is how often it is in."""

    def __init__(self) -> None:
        self.who = caller()
        self.depth = 1
        self.gate: SimpleQueue[None] = SimpleQueue()


# Contract. The first of the line holds the lock; a thread that holds it may take it again. Waiting
# ends with an interrupt, and then the thread is not in the line any more. `name` is told where a
# forked child comes: it never gets in, and never waits.
class Turn:
    """A lock, first come, first served."""

    def __init__(self, name: object) -> None:
        self._line: collections.deque[_Place] = collections.deque()
        self._process = os.getpid()
        self._name = name

    def check_process(self) -> None:
        """ForkError in a child process."""
        check_process(self._name, self._process)

    def acquire(self, seconds: float | None = None) -> bool:
        """Waits for the lock; False when it was not free for so many seconds, or is not with
        0."""
        self.check_process()
        if self.mine:
            self._line[0].depth += 1
            return True
        place = _Place()
        try:
            self._line.append(place)
            end = None if seconds is None else time.monotonic() + seconds
            while self._line[0] is not place:
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    self._leave(place)
                    return False
                wait(place.gate, left)
        except BaseException:
            self._leave(place)
            raise
        return True

    def release(self) -> None:
        """Ends what one acquire() began."""
        place = self._line[0]
        if place.depth > 1:
            place.depth -= 1
        else:
            self._leave(place)

    @property
    def mine(self) -> bool:
        """Whether the thread that asks holds it."""
        return bool(self.depth)

    @property
    def taken(self) -> bool:
        """Whether any thread holds it."""
        return bool(self._line)

    @property
    def depth(self) -> int:
        """How often the thread that asks is in."""
        try:
            first = self._line[0]
        except IndexError:
            return 0
        return first.depth if first.who == caller() else 0

    def back_to(self, depth: int) -> None:
        """After an interrupt: as deep as it was before, which this thread may be already."""
        if self.mine and depth:
            self._line[0].depth = depth
        elif self.mine:
            self._line.popleft()
        self._wake()

    def _leave(self, place: _Place) -> None:
        with contextlib.suppress(ValueError):  # it has left
            self._line.remove(place)
        self._wake()

    # Once too often is harmless: who wakes looks whether it is the first.
    def _wake(self) -> None:
        with contextlib.suppress(IndexError):
            self._line[0].gate.put(None)

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *exc: object) -> None:
        self.release()
