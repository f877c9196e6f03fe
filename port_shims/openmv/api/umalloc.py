# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for OpenMV's module umalloc (modules/py_umalloc.c, 2026): what scripts see of it."""

import omv_board


def stats(index=-1):
    return omv_board.uma.stats(index)


def collect():
    omv_board.uma.collect()
