# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Loops that only count are run at once by the board in software: with the results, the number
of instructions and the time of loops that are not, which differ in what they do beside it."""

from __future__ import annotations

import random
import struct

import pytest
from emulated import needs_cc
from k210_model.heap import RAM_START
from maixmem_cli.emulator.board import Board
from maixmem_cli.flash import image as flash_image
from register_programs import until_it_hangs

_DATA = 0x4000
_HEAD = (
    0xF14022F3,  # csrr t0, mhartid
    0x00028463,  # beqz t0, +8
    0x0000006F,  # j .: the second hart
    0x00004E37,  # lui t3, 4
    0x100002B7,  # lui t0, 0x10000
    0x00329293,  # slli t0, t0, 3
    0x005E0E33,  # add t3, t3, t0: _DATA in the RAM
)
_ADDI, _ADDIW, _LD, _SD, _BNE, _STOP = 0x13, 0x1B, 0x3003, 0x3023, 0x1063, 0x6F
_NOP, _OR = _ADDI, 0x6033  # or x0, x0, x0 does nothing either, and is no nop
_A0, _A1, _T3 = 10, 11, 28
_MASK = (1 << 64) - 1
Loop = tuple[int, int, int, int, int]  # from, to, step, opcode of the sum, nops of a round


def _word(value: int) -> int:
    """As a register holds a number of 32 bits."""
    return ((value & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


def _loops(seed: int) -> list[Loop]:
    pick = random.Random(seed)
    edge = [
        (0x7FFFFFFE, 0x80000003, 1, _ADDI, 1),  # past what 32 bits hold
        (0x7FFFFFFE, _word(0x80000003), 1, _ADDIW, 1),  # round the end of 32 bits
        (1 << 40, (1 << 40) + 300, 3, _ADDI, 0),
        (-5, 5, 5, _ADDI, 2),
        (1, 0, -1, _ADDIW, 1),
    ]
    found: list[Loop] = []
    for _ in range(40):
        step = pick.choice((-1, -1, 1, 1, -7, 3, 2047))
        rounds, to = pick.choice((1, 2, 3, 40, 333, 5000, pick.randrange(1, 3000))), 0
        if pick.random() < 0.5:
            to = pick.randrange(-(1 << 20), 1 << 20)
        found.append(
            (to - step * rounds, to, step, pick.choice((_ADDI, _ADDIW)), pick.randrange(4))
        )
    return edge + found


def _chip(loops: list[Loop], nop: int) -> bytearray:
    code = list(_HEAD)
    for i, (_, _, step, add, nops) in enumerate(loops):
        first, behind = nops // 2, nops - nops // 2
        code += [_LD | _A0 << 7 | _T3 << 15 | 16 * i << 20]
        code += [_LD | _A1 << 7 | _T3 << 15 | 16 * i + 8 << 20]
        code += [nop] * first + [add | _A0 << 7 | _A0 << 15 | (step & 0xFFF) << 20]
        back = -4 * (nops + 1)
        bits = (back >> 12 & 1) << 31 | (back >> 5 & 63) << 25 | (back >> 1 & 15) << 8
        code += [nop] * behind + [_BNE | _A0 << 15 | _A1 << 20 | bits | (back >> 11 & 1) << 7]
        at = 16 * i
        code += [_SD | _T3 << 15 | _A0 << 20 | (at >> 5) << 25 | (at & 31) << 7]
    image = struct.pack(f"<{len(code) + 1}I", *code, _STOP).ljust(_DATA, b"\0")
    for start, to, *_ in loops:
        image += struct.pack("<QQ", start & _MASK, to & _MASK)
    chip = bytearray(b"\xff" * flash_image.FLASH_SIZE)
    boot = flash_image.boot_image(image)
    chip[: len(boot)] = boot
    return chip


def _run(loops: list[Loop], nop: int) -> tuple[list[int], int, int, int]:
    """What each loop left, instructions, microseconds, cycles of the board."""
    with Board(_chip(loops, nop)) as board:
        until_it_hangs(board)
        at = _DATA
        found = struct.unpack_from(f"<{2 * len(loops)}Q", board.ram, at)
        state = board.state()
    return list(found[::2]), state["instructions"], state["microseconds"], state["cycles"]


@needs_cc
@pytest.mark.parametrize("seed", range(4))
def test_a_loop_at_once_is_the_loop_round_by_round(seed: int) -> None:
    loops = _loops(seed)
    at_once, one_by_one = _run(loops, _NOP), _run(loops, _OR)
    assert at_once == one_by_one
    assert at_once[0] == [to & _MASK for _, to, *_ in loops]
    rounds = sum(
        (to - start) // step for start, to, step, *_ in loops if abs(to - start) < 1 << 31
    )
    assert at_once[1] > 2 * rounds > 10000
