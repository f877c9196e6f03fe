# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for the console of MaixPy's uos, on interpreters that have no such module."""

from k210_console import read_along as dupterm
