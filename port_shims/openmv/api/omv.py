# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for OpenMV's module omv (modules/py_omv.c): it is there."""


def version_string():
    return "5.0.0"


def board_type():
    return "H7"
