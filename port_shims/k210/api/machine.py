# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's machine module: only the reset that memory settings need."""

import k210_board as board


def reset() -> None:
    board.power_on()
    raise board.HardReset("machine.reset()")
