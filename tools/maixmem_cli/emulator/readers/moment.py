# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A snapshot of a running K210 for the readers of objects: what the collector follows, which
the snapshot keeps, and the rest, which does not change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from k210_model.heap import RAM_END, RAM_START

from maixmem_cli.heap import heaps
from maixmem_cli.heap import threads as threads_of
from maixmem_cli.heap.blocks import sizes
from maixmem_cli.heap.layout import Layout
from maixmem_cli.heap.memory import Memory, Ram, Range, Two
from maixmem_cli.heap.objects import Moment

LAYOUT = Layout()  #: MicroPython 1.11 with 64 bits
_MOST_THREADS = 64
_SP = 2  # register, kept at the beginning of what was seen
_UNUSED = 0xA5A5A5A5A5A5A5A5  # what FreeRTOS fills a stack with


@dataclass(frozen=True)
class Known:
    """From where to where the interpreter's state is, the dict of __main__, the word that points
    to the list of threads (0: there are none), the type str."""

    state: Range
    globals: int
    threads: int
    text: int


def of_look(seen: heaps.Ram, ram: heaps.Ram, states: bytes, pool: int, known: Known) -> Moment:
    """`seen`: what the collector follows, after the registers; `ram`: the
    rest; `states`: one of each block of the pool."""
    state, books = known.state
    end = pool + len(states) * LAYOUT.block
    # stack_top and stack_limit come before the state's roots
    followed = [(pool, end), (state + 16, books)]
    there, rest = _memory(seen), _memory(ram)
    memory = Two(there, followed, rest)
    stacks = _stacks(there, memory, (state, known.threads, pool))
    followed += stacks
    return Moment(
        memory=memory,
        layout=LAYOUT,
        sizes=sizes(states, pool, LAYOUT.block),
        types=memory.word(known.text),
        globals=known.globals,
        state=(state + 16, books),
        registers=[there.word(RAM_START + 8 * i) for i in range(1, 32)],
        stacks=stacks,
    )


def stack(seen: heaps.Ram, ram: heaps.Ram, pool: int, known: Known) -> tuple[int, int]:
    """Bytes of the running thread's stack that are in use and that are left, (0, 0) where its
    bounds are not known."""
    there, rest = _memory(seen), _memory(ram)
    sp = there.word(RAM_START + 8 * _SP)
    for _, low, high in _threads(there, rest, known.threads, pool):
        if low <= sp < high:
            return high - sp, sp - low
    return 0, 0


def running(ram: heaps.Ram, threads: int) -> int:
    """How many threads that a script started have not ended. `threads`: the word that points to
    their list; one that has ended is not ready and stays in it."""
    memory = _memory(ram)
    ready = sum(node.ready for _, node in _nodes(memory, memory, threads))
    return max(0, ready - 1)  # the interpreter's own


def overran(ram: heaps.Ram, threads: int) -> list[int]:
    """Where the stacks begin that were written down to their last word, of threads that go on. It
    is FreeRTOS's own rule, which it looks at when it changes to another thread."""
    memory = _memory(ram)
    nodes = [node for _, node in _nodes(memory, memory, threads) if node.ready]
    used = [node.low for node in nodes if memory.word(node.low) != _UNUSED]
    return used if len(used) < len(nodes) else []  # else it fills none


def _stacks(there: Memory, memory: Memory, places: tuple[int, int, int]) -> list[Range]:
    """From where to where each is in use, the running one first; then those of other threads, as
    far as the firmware's collector looks at them."""
    state, threads, pool = places
    sp, top = there.word(RAM_START + 8 * _SP) & ~7, memory.word(state)
    others: list[Range] = []
    for task, low, high in _threads(there, memory, threads, pool):
        kept = there.word(task) & ~7
        if low <= sp < high:
            top = top if low <= top <= high else high
        elif low <= kept < high:  # else the look did not come to it
            others.append((kept, high))
    return [(sp, top), *others]


def _threads(
    there: Memory, memory: Memory, threads: int, pool: int
) -> Iterator[tuple[int, int, int]]:
    """Of each its task, and from where to where its stack lies."""
    for th, node in _nodes(there, memory, threads):
        begun_here = th < pool  # the interpreter's own thread is not in its pool
        yield node.task, node.low, node.high + (0 if begun_here else threads_of.SPARE)


def _nodes(there: Memory, memory: Memory, threads: int) -> Iterator[tuple[int, threads_of.Node]]:
    """Those of the list and their places, from the word that points to it."""
    th = there.word(threads) if threads else 0
    for _ in range(_MOST_THREADS):
        if not RAM_START <= th < RAM_END:
            return
        node = threads_of.node(memory, th)
        yield th, node
        th = node.following


def _memory(ram: heaps.Ram) -> Ram:
    return Ram(ram[: RAM_END - RAM_START], RAM_START)
