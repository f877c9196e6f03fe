# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The right to run in a memory that several models share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class LockError(RuntimeError):
    """A model was to run, load or unload while this thread is inside the with block of another."""


# Contract. One holder at a time. Another thread waits; the same thread may take it again for the
# same holder, and gets LockError for another one, because waiting would never end and running
# would destroy what the first still reads.
class ExclusiveLock:
    """A lock that knows for whom it is held."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._holder: object = None
        self._thread: int | None = None
        self.depth = 0

    def acquire(self, who: object) -> None:
        """Waits for the lock and holds it for `who` until release()."""
        self._lock.acquire()
        if self.depth and self._holder is not who:
            holder = self._holder
            self._lock.release()
            who = who if str(who) != str(holder) else f"another {who}"
            raise LockError(f"{holder} is in use: leave its with block before {who}")
        self._holder = who
        self._thread = threading.get_ident()
        self.depth += 1

    def release(self) -> None:
        """Ends what one acquire() began."""
        self.depth -= 1
        if not self.depth:
            self._holder = None
        self._lock.release()

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
        return self._holder is who and self._thread == threading.get_ident()
