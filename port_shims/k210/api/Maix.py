# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's Maix module: utils and freq."""

import k210_board as board
from k210_args import exactly
from k210_model.values import Any

_CHUNK = 65536


def _int(value: Any) -> int:
    if isinstance(value, int):
        return int(value)
    raise TypeError("can't convert %s to int" % type(value).__name__)


class utils:
    @staticmethod
    def gc_heap_size(*args: Any) -> "int | None":
        """Bytes in freq.conf, or store them; they count after a hard reset."""
        if len(args) > 1:
            raise TypeError("function expected at most 1 arguments, got %d" % len(args))
        n = _int(args[0]) if args else 0
        board.point("gc_heap_size store" if args else "gc_heap_size")
        board.spi_read(4096, "gc_heap_size")
        if not args:
            return board.gc_configured()
        board.gc_configure(n)
        return None

    @staticmethod
    def heap_free(*args: Any) -> int:
        """Bytes above the break: a lower bound of what is free."""
        exactly(len(args), 0)
        board.alive()
        return board.heap.heap_free()

    @staticmethod
    def flash_read(*args: Any) -> bytes:
        exactly(len(args), 2)
        address, n = _int(args[0]), _int(args[1])
        board.point("flash_read")
        if n < 0 or n > 0xFFFFFFFF:
            n &= 0xFFFFFFFF
        if n > board.gc_pool():
            raise MemoryError("memory allocation failed, allocating %d bytes" % n)
        for at in range(0, n, _CHUNK):
            board.spi_read(min(_CHUNK, n - at), "flash_read")
        return board.read_flash(address, n)


class freq:
    @staticmethod
    def get() -> tuple:
        return 403, 398

    @staticmethod
    def set(*args: Any, **kwargs: Any) -> None:
        """Stores the clocks and restarts the board."""
        board.power_on()
        raise board.HardReset("freq.set()")

    @staticmethod
    def get_cpu() -> int:
        return 403

    @staticmethod
    def get_kpu() -> int:
        return 398
