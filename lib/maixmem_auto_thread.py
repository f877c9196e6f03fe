# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The firmware's _thread; maixmem_auto puts it in its place. A thread whose stack is not to be had
crashes the firmware or never runs: here models go for it first, or NoRoom says the numbers."""

from _thread import *

import maixmem_kpu


def start_new_thread(*args):
    """The firmware's, with what our calls take beside the stack that was set, and as much that a
    part can be imported in the thread."""
    asked = stack_size()
    n = min(max(asked, 12288) + 4096, 524280)  # the firmware takes numbers modulo 512 KiB
    p = maixmem_kpu._m.port
    p.free_bytes()
    try:
        # a thread takes 2240 bytes beside its stack
        stack_size(n if p.largest > n + 2304 else maixmem_kpu._part("room", "stack", asked))
        maixmem_kpu._port.maixmem_k210._thread.start_new_thread(*args)
    finally:
        stack_size(asked)
