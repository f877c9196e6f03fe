# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The threads of a MicroPython on FreeRTOS: its list has a node for each, six words: the task,
whether it is ready, its arguments, its stack, words of that, the next node (mpthreadport.c of
MaixPy and ESP32); a task begins with where its stack's part in use begins (tasks.c)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from maixmem_cli.heap.memory import Memory, Range

WORDS = 6  #: of a node
SPARE = 1024  #: bytes of the stack that MaixPy's list does not count, nor its collector follow
_MOST_STACK = 1 << 20  # bytes


@dataclass(frozen=True)
class Thread:
    """`node`: its place in the list; `stack`: from where to where that is in use."""

    node: int
    stack: Range


@dataclass(frozen=True)
class Node:
    """What a node of the list says: `low`, `high`: where its stack lies."""

    task: int
    ready: bool
    low: int
    high: int
    following: int


def node(memory: Memory, at: int) -> Node:
    """The one there."""
    w = memory.size
    task, ready, _, low, words, following = (memory.word(at + w * i) for i in range(WORDS))
    return Node(task, ready & 0xFFFFFFFF == 1, low, low + w * words, following)


def of_script(
    memory: Memory, nodes: Iterable[int], running: Range, spare: int
) -> Iterator[Thread]:
    """Those that a script has begun: of these places on the GC heap the ones that are nodes.
    `running`: the part in use of the stack of who asks; `spare`: bytes of a stack that its node
    does not count."""
    for at in nodes:
        n = node(memory, at)
        if not n.ready or not n.low < n.high < n.low + _MOST_STACK or n.low % memory.size:
            continue
        kept = memory.word(n.task)
        if n.low <= kept < n.high and not n.low <= running[0] < n.high:
            yield Thread(at, (kept - kept % memory.size, n.high + spare))
