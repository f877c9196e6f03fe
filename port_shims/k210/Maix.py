# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's Maix module."""

import k210_board as board
import k210_model


class utils:
    @staticmethod
    def gc_heap_size(*args):
        board.point("gc_heap_size")
        if not args:
            return board.state.stored_gc
        n = args[0]
        if not isinstance(n, int):
            raise TypeError("can't convert %s to int" % type(n).__name__)
        board.state.stored_gc = (n & 0xFFFFFFFF) or 524288
        return None

    @staticmethod
    def heap_free():
        board.alive()
        return board.heap.heap_free()

    @staticmethod
    def flash_read(address, n):
        board.point("flash_read")
        if n < 0:
            raise MemoryError("memory allocation failed, allocating %d bytes" % (n & 0xFFFFFFFF))
        for at in range(0, n, 65536):
            k210_model.spi_transient(min(65536, n - at), "flash_read")
        return board.flash.read(address, n)
