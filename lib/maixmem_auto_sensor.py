# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The firmware's sensor; maixmem_auto puts a reset() and a set_framesize() here that make room for
frame buffers first."""

from sensor import *
