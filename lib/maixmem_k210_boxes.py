# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The call stack that YOLO needs in a thread on the K210. Comes in with the first model that has a
setup, or the first init_yolo2(), where the firmware has threads, and stays.

kpu.run_yolo2() sorts its boxes on the stack, 16 bytes each, and does not check: past the end it
writes into the system heap. Measured by the pattern of unused stack on five builds, outputs of 245
to 1500 boxes, hundreds of calls: 1,844 bytes more with an interrupt at the deepest point (M5StickV
v5.1.2: 1,876). A thread's stack is a block of malloc's; its state, whose address get_ident() is,
lies on it.
"""

import _thread

from maixmem import const, port, run_once
from maixmem_k210_heap import heap
from maixmem_k210_kpu import kpu

try:
    from micropython import stack_use
except ImportError:  # CPython

    def stack_use():
        """Bytes of stack in use: not known."""
        return 0


_RAM = const(0x80000000)
_END = const(0x80600000)
_BOX = const(16)  # bytes of stack
_CALL = const(2048)  # of run_yolo2() itself
_OUTPUT = const(24)  # bytes of output that a box has at least: 4 places, 1 object, 1 class
_BELOW = const(8192)  # of the program's own calls in a thread, and of a part that is imported
_STATE = const(64)  # bytes that a thread's state has at most
_ABOVE = const(264)  # bytes of the block above what the state calls the top of the stack
_KEPT = const(1024)  # that the firmware takes off the size, perhaps after the thread began
# in memory: a thread with so little stack cannot import the sentences
_SMALL = (
    "run_yolo2() takes {} bytes of this thread's stack, {} are left: start the thread after "
    "init_yolo2(), or _thread.stack_size({}) before."
)
_PAST = "written past the end of this thread's stack: machine.reset()"
_found = False  # was a thread's stack found in a block of malloc's


def stack_of(net, anchors: int) -> int:
    """Bytes of stack that run_yolo2() of a net takes, for as many boxes as its output can hold
    where its cells are not known; 0 where nothing is. Threads that begin from now on have as much,
    and what their own calls take."""
    cells = getattr(net.cost, "cells", 0)
    if not cells:
        if net.stack:
            return net.stack
        try:
            cells = run_once("k210_cells", "cells", net.how.get("file", net.source))
        except (MemoryError, RuntimeError, OSError, ValueError):
            # Firmware that reads no flash loads V3 alone. (V4's output cannot be queried before
            # its first run: that hangs.)
            if "flash_read" in port().lacks:
                cells = -(kpu.get_output(net.handle, 0).size() // _OUTPUT)
    if not cells:
        return 0
    nbytes = _BOX * (cells * anchors if cells > 0 else -cells) + _CALL
    _thread.stack_size(max(_thread.stack_size(), (nbytes + _BELOW + 1023) & -1024))
    return nbytes


def require(net, used: int) -> None:
    """RuntimeError in a thread with less stack left than net.stack beyond the `used` bytes, or
    where something wrote past its end. Allocates nothing when there is enough."""
    if heap:
        n = left(heap.words, _thread.get_ident() - _RAM, used)
        if n < net.stack:
            if n < 0:
                raise RuntimeError(_PAST)
            raise RuntimeError(_SMALL.format(net.stack, n, net.stack + _BELOW))


def left(words, state: int, used: int) -> int:
    """Bytes of the stack of the thread with this state beyond `used`; -1 where its block is not
    whole."""
    global _found
    if not 0 < state < _END - _RAM:
        return _END
    top, size = words[state >> 2] - _RAM, words[(state >> 2) + 2]
    if not state < top < state + _STATE:  # the main thread's
        return size - used
    size &= -8
    for n in (size, size + _KEPT):
        below = n - _ABOVE
        more = (words[((top - below) >> 2) - 2] & -8) - ((n + 23) & -16)
        if more in (0, 16):
            _found = True
            return below - used
    return -1 if _found else size - _KEPT - used
