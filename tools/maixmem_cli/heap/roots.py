# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where an interpreter keeps what it holds, found from outside (py/mpstate.h): a thread's state
(the stack's top and limit, then the dicts of locals and of globals, the chain of exception
handlers, which is on the stack), the rest of the interpreter's, then the GC heap's own."""

from __future__ import annotations

from collections.abc import Mapping

from maixmem_cli.heap.memory import Memory, Range

_BEFORE, _BEHIND = 4096, 6144  # bytes around the dict of __main__ that have all of it
_BEGINS = 1 << 16  # where a memory begins is a multiple of this
_UNUSED = 256  # bytes behind the last block that are none
_TOP = 6  # words before the dicts of locals and globals, of which one is the top of the stack
_MOST_STACK = 1 << 20  # bytes


def around(main: int) -> Range:
    """From where to where the state is, near the dict of __main__; no byte before the memory."""
    return max(main - _BEFORE, main - main % _BEGINS), main + _BEHIND


def find(
    memory: Memory, main: int, asker: int, pools: Mapping[int, int]
) -> tuple[Range, Range] | None:
    """From where to where the roots are, and the running stack in use.

    `main`: the dict of __main__; `asker`: the dict in which code runs at this moment; `pools`:
    where each area of the GC heap begins and ends.
    """
    w = memory.size

    def is_books(at: int) -> bool:
        end = pools.get(memory.word(at), 0)
        return 0 <= memory.word(at + w) - end <= _UNUSED and end > 0

    low, high = around(main)
    for at in range(low, high, w):
        names = memory.word(at)  # in a function these are of who called it
        private = any(pool <= names < end for pool, end in pools.items())
        if memory.word(at + w) == asker and (private or names == main):
            end = next(filter(is_books, range(at, high, w)), 0)
            stack = _stack(memory, at)
            if end and stack:
                return (at + 2 * w, end), stack
    return None


def _stack(memory: Memory, dicts: int) -> Range | None:
    w = memory.size
    low = memory.word(dicts + 2 * w)
    for at in range(dicts - w, dicts - (_TOP + 1) * w, -w):
        top = memory.word(at)
        if low < top < low + _MOST_STACK:
            return low, top - top % w
    return None
