# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The smallest GC heap with which a script runs as it did, found by running it with smaller and
smaller ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from maixmem_cli.emulator.session import Outcome, Session
from maixmem_cli.heap import heaps
from maixmem_cli.serial.repl import BoardError

STEP = 1024  #: bytes; what is found is a multiple of it
_SLOWER = 4  # times as long as the first run: it collects more often
_MORE = 5.0  # seconds of the board's clock


@dataclass(frozen=True)
class Smallest:
    """Bytes as Maix.utils.gc_heap_size() takes them; `pool`: those of them that objects can have,
    the rest are the heap's own tables. One STEP less does not do."""

    heap: int
    pool: int
    runs: int


def smallest(session: Session, first: Outcome, most: int, seconds: float) -> Smallest | None:
    """Runs the session's script on boards of their own. `first`: how it ended with a GC heap of
    `most` bytes, after `seconds` of the board's clock. None when it does not end so again."""
    tries = _Tries(session, first, seconds)
    works, fails = -(-most // STEP), 0
    pool = tries.pool(works * STEP)
    if pool is None:
        return None
    while works - fails > 1:
        middle = (works + fails) // 2
        found = tries.pool(middle * STEP)
        if found is None:
            fails = middle
        else:
            works, pool = middle, found
    return Smallest(works * STEP, pool, tries.runs)


class _Tries:
    def __init__(self, session: Session, first: Outcome, seconds: float) -> None:
        self._session = session
        self._wanted = self._end(first)
        self._limit = min(seconds * _SLOWER + _MORE, session.options.seconds or float("inf"))
        self.runs = 0

    @staticmethod
    def _end(outcome: Outcome) -> tuple[str, str, int]:
        """How it ended, without where: lines of the traceback may be others."""
        lines = outcome.error.strip().splitlines()
        return outcome.kind, lines[-1] if lines else "", outcome.status

    def pool(self, size: int) -> int | None:
        """Bytes that objects can have in such a heap, None when the script does not run so."""
        self.runs += 1
        options = replace(self._session.options, gc_heap=size, seconds=self._limit, save_lcd=None)
        try:
            with Session(self._session.firmware, self._session.script, options) as trial:
                total = trial.finder.gc(trial.board.ram).total
                outcome = trial.run(lambda text: None)
        except (BoardError, heaps.NotFound, OSError):  # too small for the interpreter itself
            return None
        return total if self._end(outcome) == self._wanted else None
