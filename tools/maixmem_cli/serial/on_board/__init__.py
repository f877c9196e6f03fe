# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What runs on a board, in the dialect of MicroPython 1.9 and CircuitPython: read and sent by
visit.py, never imported here. Each answers plain values."""
