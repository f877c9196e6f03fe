# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Nothing: importing it is how MicroPython makes an empty module."""
