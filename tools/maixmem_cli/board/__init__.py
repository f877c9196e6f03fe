# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is done to a board: the library put on it and taken off, its state examined, tests run."""
