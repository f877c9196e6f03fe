# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""High-water marks of memory, for a loop: what maixmem.Watch() makes."""

import gc

from maixmem import port as _port
from maixmem import run_once


# Keeps, for every region the port can read without allocating, the free bytes now, at the start
# and the least seen. The lists are made once: sample() allocates nothing (proved under heap_lock)
# and may run in a camera loop. mark() keeps a copy (one small list). The figures are the port's:
# where a Region is a bound they are bounds.
class Watch:
    """High-water marks per region: sample() in the loop, report() at the end."""

    def __init__(self, port=None) -> None:
        port = port or _port()
        n = len(port.watched)
        self._port = port
        self.names = port.watched
        self.free = [0] * n
        self.low = [0] * n
        self.reset()

    def reset(self) -> None:
        """Starts anew: the present values become the start and the low-water mark. Collects
        garbage first."""
        gc.collect()
        self._port.sample(self.free)
        self.start = list(self.free)
        for i in range(len(self.low)):
            self.low[i] = self.free[i]
        self.marks = []  # type: list[tuple[str, list[int]]]
        self.samples = 1

    def sample(self) -> None:
        """Reads every region and keeps the least free bytes. Allocates nothing."""
        free = self.free
        low = self.low
        self._port.sample(free)
        for i in range(len(free)):
            if free[i] < low[i]:
                low[i] = free[i]
        self.samples += 1

    def mark(self, label: str) -> None:
        """Keeps the present values under a label, for report(). Allocates one list."""
        self.sample()
        self.marks.append((label, list(self.free)))

    def high_water(self) -> "dict[str, int]":
        """{region: most bytes in use above the start}, from the samples so far."""
        return {self.names[i]: self.start[i] - self.low[i] for i in range(len(self.low))}

    def report(self, out=print) -> None:
        """Prints start, marks, lowest and now, free bytes per region."""
        try:
            run_once("status", "watched", self, out)
        except MemoryError:  # without the table
            out("start, low, now")
            for i in range(len(self.names)):
                out(self.names[i])
                out(self.start[i])
                out(self.low[i])
                out(self.free[i])
