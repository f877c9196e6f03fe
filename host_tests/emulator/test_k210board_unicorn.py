# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The board's harts against Unicorn, instruction by instruction: all registers, floating-point
flags, memory."""

from __future__ import annotations

from collections import Counter

import pytest
import riscv_programs
import sanitized
from emulated import needs_cc, only_thorough

pytestmark = [needs_cc, only_thorough]

_PROGRAMS, _LENGTH = 12, 3000


def unicorn() -> None:
    pytest.importorskip(
        "unicorn", reason="NO Unicorn: the harts are not compared (pip install unicorn)"
    )


@pytest.mark.parametrize("seed", range(_PROGRAMS))
def test_random_programs(seed: int) -> None:
    unicorn()
    program = riscv_programs.write(seed, _LENGTH)
    ours, theirs = riscv_programs.on_board(program), riscv_programs.on_unicorn(program)
    assert riscv_programs.differences(program, ours, theirs) == []


def test_random_programs_under_sanitizers() -> None:
    unicorn()
    program = riscv_programs.write(99, _LENGTH)
    ours = riscv_programs.on_board(program, sanitized.core())
    assert riscv_programs.differences(program, ours, riscv_programs.on_unicorn(program)) == []


def test_every_instruction_is_among_them() -> None:
    used: Counter[str] = Counter()
    for seed in range(_PROGRAMS):
        used.update(n.split()[0] for n in riscv_programs.write(seed, _LENGTH).names)
    names = {name for name, _, _ in riscv_programs.instructions()}
    assert len(names) > 150
    assert min(used[n] for n in names) > 20
    assert used["compressed"] > 1000
