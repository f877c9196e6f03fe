# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""_thread: what the firmware takes for a thread, and locks."""

import sys

import k210_board as board
from k210_parts import Part, keep

_GIVE_BACK = "release() it first; or ask with acquire(0), which does not wait"
_NOT_RUN = "maixmem: the stand-in does not run what a thread does. Next: --firmware IMAGE does"
_ROOM = "a smaller _thread.stack_size(), or start the thread before the models"
_STACK = 5120  # where the program says none; at least 4096
_TASK = 2224  # what belongs to a stack


def start_new_thread(function, args, *kwargs):
    board.point("thread")
    if not board.state.threads:
        print(_NOT_RUN, file=sys.stderr)
    board.state.threads = True
    stack = max(board.state.stack or _STACK, 4096) % 0x80000  # 16 bits, in words
    for n in (stack, _TASK):
        if not board.heap.malloc(n):  # the firmware goes on with a handle that was never set
            board.crash("no system heap for a thread's stack of %d bytes" % stack, _ROOM)


def stack_size(*size):
    """Gives what was set before."""
    before = board.state.stack
    board.state.stack = size[0] if size else 0
    return before


class lock(Part):
    def __init__(self):
        keep(self, "_held", [])

    def acquire(self, wait=1, timeout=-1):
        if self._held and wait and timeout < 0 and not board.state.threads:
            board.crash("the lock is taken, and no thread is there to give it back", _GIVE_BACK)
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


def exit():
    raise SystemExit


def allocate_lock():
    return lock()
