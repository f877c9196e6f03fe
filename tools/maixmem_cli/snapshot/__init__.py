# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A snapshot of a GC heap: taken from a board or a file, who holds what, what changed, and how it
is shown."""
