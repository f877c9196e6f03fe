# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which objects of the GC heap are in use, while a script runs: marked from outside, between two
instructions, from the roots that the firmware's own collector uses (py/gc.c of MicroPython 1.11).

Roots: the interpreter's state, which lies in front of the GC's own books, the stack of the task
that runs Python, and the registers. Every word that could point to an object does, as there.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from k210_model.heap import RAM_START

from maixmem_cli.emulator.readers import heaps
from maixmem_cli.emulator.readers.heaps import BLOCK, HEAD, MARKED, TAIL, GcHeap
from maixmem_cli.emulator.session import Session

_STATE = 4096  # bytes in front of mp_state_mem, more than mp_state_ctx has
_STACK = 64 << 10  # bytes of a stack that is no chunk of the system heap
_OFTEN = 10  # rounds of the board between two samples at first: 20,000 instructions
_MOST = 256  # samples that are kept; then every second one, and half as often from there on


@dataclass(frozen=True)
class Sample:
    """At a time, one byte a block of the GC heap: HEAD and TAIL of objects in use, else 0."""

    time: int
    blocks: bytes


def mark(ram: heaps.Ram, gc: GcHeap, roots: list[tuple[int, int]], more: list[int]) -> bytes:
    """The blocks in use, as Sample has them. `roots`: (from, to) addresses of words that may
    point; `more`: such words."""
    pool, states = gc.pool, gc.states.replace(bytes([MARKED]), bytes([HEAD]))  # while it collects
    end = pool + len(states) * BLOCK
    live, todo = bytearray(len(states)), []

    def look(words: array[int] | list[int]) -> None:
        for p in words:
            if pool <= p < end and not (p - pool) % BLOCK:
                i = (p - pool) // BLOCK
                if states[i] == HEAD and not live[i]:
                    live[i] = HEAD
                    todo.append(i)

    look(more)
    for first, last in roots:
        look(array("Q", bytes(ram[first - RAM_START : last - RAM_START])))
    inside = array("Q", bytes(ram[pool - RAM_START : end - RAM_START]))
    each = BLOCK // 8
    while todo:
        first = last = todo.pop()
        while last + 1 < len(states) and states[last + 1] == TAIL:
            last += 1
            live[last] = TAIL
        look(inside[first * each : (last + 1) * each])
    return bytes(live)


# Called by the board before it runs on; answers for how many rounds.
class Sampler:
    """Takes samples evenly over a run, of which it does not know how long it will be."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._board = session.board
        self._every = self._left = _OFTEN
        self._traced = 0
        self._stacks: list[tuple[int, int, bool]] = []  # from, to, whether Python runs on it
        self.samples: list[Sample] = []

    def __call__(self, wanted: int) -> int:
        """Takes a sample when it is time; how many rounds there are until the next."""
        if self._left <= 0:
            self._take()
        rounds = min(wanted, self._left) if self._left > 0 else 1
        self._left -= rounds
        return rounds

    def _take(self) -> None:
        traced = self._session.tracer.written()
        sp = self._sp()
        if traced == self._traced:  # the script waits
            self._left = self._every
            return
        _, end, python = self._stack_of(sp)
        if python:  # else another task has the core: soon
            self._left = self._every
            self._session.tracer.where()
            self._traced = self._session.tracer.written()
            self._add(sp, end)

    def _add(self, sp: int, end: int) -> None:
        ram, finder = self._board.ram, self._session.finder
        try:
            gc = finder.gc(ram)
        except heaps.NotFound:  # a soft reset
            return
        state = finder.gc_state
        roots = [(state - _STATE, state), (sp & ~7, end)]
        now = self._board.state()
        live = mark(ram, gc, roots, now["harts"][0]["x"])
        self.samples.append(Sample(now["instructions"], live))
        if len(self.samples) >= _MOST:
            self.samples = self.samples[1::2]
            self._every *= 2

    def _sp(self) -> int:
        return self._board.state()["harts"][0]["x"][2]

    def _stack_of(self, sp: int) -> tuple[int, int, bool]:
        """Where the stack is that this pointer is in: a chunk of the system heap, or what is
        below it. Python runs on the one that the interpreter's state points into, above."""
        for known in self._stacks:
            if known[0] <= sp < known[1]:
                return known
        ram, finder = self._board.ram, self._session.finder
        try:
            system = finder.system(ram)
            finder.gc(ram)
        except heaps.NotFound:  # in the middle of a call
            return sp, sp, False
        at = next((c for c in system.used if c.address <= sp < c.address + c.size - 8), None)
        start = at.address if at else sp - _STACK
        end = (at.address + at.size - 8 if at else min(sp + _STACK, system.base)) & ~7
        first = finder.gc_state - RAM_START
        state = array("Q", bytes(ram[first - _STATE : first]))
        python = any(sp <= word < end for word in state)
        if python or at:  # a pointer near the end of its stack is judged again
            self._stacks.append((start, end, python))
        return start, end, python
