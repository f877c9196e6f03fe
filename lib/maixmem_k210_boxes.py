# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The call stack that YOLO needs in a thread on the K210. Comes in with the first init_yolo2()
where the firmware has threads, and stays.

kpu.run_yolo2() sorts its boxes on the stack, 16 bytes each, and does not check: past the end it
writes into the system heap. Measured on MaixPy v0.6.2_84 by the pattern of unused stack, with
outputs of 245, 350 and 1500 boxes: 5,948, 7,628 and 26,028 bytes from the top of a thread.
"""

import _thread

from maixmem import const
from maixmem_k210_heap import heap
from maixmem_k210_kpu import kpu
from maixmem_k210_stack import size

try:
    from micropython import stack_use
except ImportError:  # CPython

    def stack_use():
        """Bytes of stack in use: not known."""
        return 0


_BOX = const(16)  # bytes of stack
_CALL = const(2048)  # of run_yolo2() itself
_BELOW = const(8192)  # of the program's own calls in a thread, and of a part that is imported
_OUTPUT = const(24)  # bytes of output that a box has at least: 4 places, 1 object, 1 class
# in memory: a thread with so little stack cannot import the sentences
_SMALL = (
    "run_yolo2() takes {} bytes of this thread's stack, {} are left: start the thread after "
    "init_yolo2(), or call _thread.stack_size({}) before it."
)


def stack_of(net, anchors: int) -> int:
    """Bytes of stack that run_yolo2() of a net takes; where the file does not tell the cells of
    its output, for as many boxes as that can hold. Threads that begin from now on have as much,
    and what their own calls take."""
    cells = getattr(net.cost, "cells", 0)
    if cells:
        boxes = cells * anchors
    else:
        boxes = (getattr(net.cost, "output", 0) or _size_of_output(net)) // _OUTPUT
    nbytes = _BOX * boxes + _CALL
    _thread.stack_size(max(_thread.stack_size(), (nbytes + _BELOW + 1023) & -1024))
    return nbytes


def _size_of_output(net):
    """Of a V3 model; V4's cannot be queried before its first run: that hangs."""
    return kpu.get_output(net.handle, 0).size()


def require(net) -> None:
    """RuntimeError in a thread with less stack left than net.stack. Allocates nothing when there
    is enough."""
    left = size(heap)
    if left:
        left -= stack_use()
        if left < net.stack:
            raise RuntimeError(_SMALL.format(net.stack, left, net.stack + _BELOW))
