# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A K210 board in software that runs a user's own firmware: the C board, its images, its two
heaps, the profiler."""
