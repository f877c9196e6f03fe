# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What ends a program on the board other than an exception of Python and a crash."""


class HardReset(BaseException):
    """machine.reset(): the board was powered off and on again, the program is gone."""


class RunEnded(BaseException):
    """The run was to have so many frames or seconds, and has had them."""
