# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""_thread: what the firmware takes for a thread, and locks."""

import k210_board as board
from k210_parts import Part, keep

_THREAD = (5120, 2224)  # a stack and what belongs to it


def start_new_thread(function, args, *kwargs):
    board.point("thread")
    for n in _THREAD:
        board.heap.malloc(n)


def stack_size(*size):
    """Gives what was set before."""
    before = board.state.stack
    board.state.stack = size[0] if size else 0
    return before


class lock(Part):
    def __init__(self):
        keep(self, "_held", [])

    def acquire(self, *args):
        if self._held:
            return False
        self._held.append(1)
        return True

    def release(self):
        if not self._held:
            raise RuntimeError
        self._held.pop()

    def locked(self):
        return bool(self._held)

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *args):
        self.release()


LockType = lock


def allocate_lock():
    return lock()
