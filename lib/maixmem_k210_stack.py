# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The stack of a thread on the K210, which importing takes more of than a thread has by itself.
Comes in where the firmware has threads, and stays."""

from _thread import get_ident

from maixmem import const

_RAM = const(0x80000000)
_END = const(0x80600000)
_LEAST = const(15360)  # bytes of stack for a part that is imported


def refuse(heap) -> None:
    """RuntimeError in a thread with too small a stack for a part to be imported."""
    if 0 < size(heap) < _LEAST:
        raise RuntimeError("before the thread: _thread.stack_size(16384)")


def size(heap):
    """Bytes of this thread's stack, less what the firmware keeps back; 0 where not known."""
    at = get_ident() - _RAM  # the thread's state: top of its stack, bytes of it
    return heap.words[(at >> 2) + 2] if heap and 0 < at < _END - _RAM else 0
