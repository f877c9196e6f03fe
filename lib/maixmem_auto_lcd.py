# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The firmware's lcd; init() first makes room for its buffer."""

import lcd as _lcd
from lcd import *
from maixmem_kpu import _before

_BUFFER = 153600  # of a display of 320x240, the largest


def init(*args, **how):
    """lcd.init of the firmware; what it needs comes first."""
    _before(_BUFFER)
    return _lcd.init(*args, **how)
