# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The `maixmem` command: what a desk needs around the device library."""
