# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The firmware's lcd; maixmem_auto puts an init() here that makes room for the buffer first."""

from lcd import *
