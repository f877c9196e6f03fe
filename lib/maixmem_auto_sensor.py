# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The firmware's sensor; what takes frame buffers first makes room for them."""

import sensor as _sensor
from maixmem_kpu import _before
from sensor import *

_state = [1, None]  # how many buffers, and the frame size that they have


def reset(*args, **how):
    """sensor.reset of the firmware; what it needs comes first."""
    _state[0] = 2 if how.get("dual_buff") else 1
    _state[1] = None
    return _sensor.reset(*args, **how)


def set_framesize(size, *args, **how):
    """sensor.set_framesize of the firmware; what it needs comes first."""
    if size != _state[1]:
        pixels = 307200 if size == getattr(_sensor, "VGA", None) else 76800
        _before(5 * pixels * _state[0] + 64)
        _state[1] = None
    done = _sensor.set_framesize(size, *args, **how)
    _state[1] = size
    return done
