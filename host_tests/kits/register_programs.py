# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A board without a firmware: it writes a list of numbers to registers, or RAM, and stops."""

from __future__ import annotations

import struct

from k210_model.heap import RAM_START
from maixmem_cli.emulator.board import HANGS, Board
from maixmem_cli.flash import image as flash_image

TABLE = RAM_START + 0x1000
KPU_RAM = RAM_START + (6 << 20)
_LONGEST = 1000  # runs of the board
_MOST = 5 << 20  # bytes of an image that the boot ROM copies
_CODE = (
    0xF14022F3,  # csrr t0, mhartid
    0x00029E63,  # bnez t0, stop
    0x000012B7,  # lui t0, 1
    0x10000337,  # lui t1, 0x10000
    0x00331313,  # slli t1, t1, 3
    0x006282B3,  # add t0, t0, t1: TABLE
    0x0080006F,  # j loop
    0x0000006F,  # stop: j .
    0x0002B503,  # loop: ld a0, 0(t0): where
    0x0082B583,  # ld a1, 8(t0): what
    0xFE050AE3,  # beqz a0, stop
    0x00B53023,  # sd a1, 0(a0)
    0x01028293,  # addi t0, t0, 16
    0xFEDFF06F,  # j loop
)


def until_it_hangs(board: Board) -> None:
    """Runs a program whose end is a loop."""
    for _ in range(_LONGEST):
        if board.run() & HANGS:
            return
    raise AssertionError(f"the program does not end: {board.state()}")


def chip(stores: list[tuple[int, int]], memory: dict[int, bytes]) -> bytearray:
    """The flash with that program; `memory`, {address: bytes}, is written first."""
    copies = [
        (at + i, int.from_bytes(data[i : i + 8], "little"))
        for at, data in memory.items()
        for i in range(0, len(data), 8)
    ]
    image = bytearray(struct.pack(f"<{len(_CODE)}I", *_CODE).ljust(TABLE - RAM_START, b"\0"))
    for where, what in [*copies, *stores, (0, 0)]:
        image += struct.pack("<QQ", where, what & (1 << 64) - 1)
    assert len(image) < _MOST
    flash = bytearray(b"\xff" * flash_image.FLASH_SIZE)
    boot = flash_image.boot_image(bytes(image))
    flash[: len(boot)] = boot
    return flash


def run(stores: list[tuple[int, int]], memory: dict[int, bytes]) -> tuple[bytes, str]:
    """RAM afterwards and what the board said."""
    with Board(chip(stores, memory)) as board:
        until_it_hangs(board)
        return bytes(board.ram), board.said()
