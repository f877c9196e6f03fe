# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Reading the K210's flash in pieces for which there is room."""

from maixmem import NoRoom, const, message
from maixmem_k210_chip import FLASH_SIZE, SPARE, SPI_EXTRA

_PIECE = const(4096)  # bytes read from flash at once
_LEAST = const(256)  # ... where there is little room


def read_flash(p, utils, offset: int, n: int) -> bytearray:
    """See maixmem_k210.Port.read_flash(): `utils` are the firmware's calls, `p` tells the room."""
    if offset < 0 or n < 0 or offset + n > FLASH_SIZE:
        raise ValueError(message("read_flash", offset, n, FLASH_SIZE))
    data = bytearray(n)
    done = 0
    while done < n:
        p.free_bytes()
        beside = SPI_EXTRA + (0 if p.exact else SPARE)
        piece = min(n - done, _PIECE, (p.largest - beside) // 4)
        if piece < min(n - done, _LEAST):
            need = 4 * min(n, _LEAST) + beside
            raise NoRoom(message("flash_room", need, p.largest), "heap", need, p.largest)
        data[done : done + piece] = utils.flash_read(offset + done, piece)
        done += piece
    return data
