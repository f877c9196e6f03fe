# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for the console and the folder of MaixPy's uos, on interpreters that have no such
module or no getcwd() in theirs."""

import k210_files
from k210_console import read_along as dupterm


def getcwd() -> str:
    """/flash on a fresh board; /sd where it started with a card."""
    return k210_files.current[0][:-1]
