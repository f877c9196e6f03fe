# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The right to run in a memory that several models share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from maixmem_linux.turn import Turn


class LockError(RuntimeError):
    """A model was to run, load or unload while this thread is inside the with block of another."""


# Contract. One holder at a time. Another thread waits, in the order in which they came; the same
# thread may take it again for the same holder, and gets LockError for another one, because waiting
# would never end and running would destroy what the first still reads.
class ExclusiveLock:
    """A lock that knows for whom it is held."""

    def __init__(self, name: str) -> None:
        self._turn = Turn(name)
        self._holder: object = None

    @property
    def depth(self) -> int:
        """How often the thread that asks is in."""
        return self._turn.depth

    def acquire(self, who: object) -> None:
        """Waits for the lock and holds it for `who` until release()."""
        self._turn.check_process()
        holder = self._holder
        if self._turn.mine and holder is not who:
            who = who if str(who) != str(holder) else f"another {who}"
            raise LockError(f"{holder} is in use: leave its with block before {who}")
        self._turn.acquire()
        self._holder = who

    def release(self) -> None:
        """Ends what one acquire() began."""
        if self._turn.depth == 1:
            self._holder = None
        self._turn.release()

    def back_to(self, depth: int) -> None:
        """After an interrupt: as deep as it was before."""
        self._turn.back_to(depth)

    @contextlib.contextmanager
    def held(self, who: object) -> Iterator[None]:
        """acquire() and release() around a with block."""
        self.acquire(who)
        try:
            yield
        finally:
            self.release()

    def held_by(self, who: object) -> bool:
        """True in the thread that holds the lock for `who`."""
        self._turn.check_process()
        return self._turn.mine and self._holder is who
