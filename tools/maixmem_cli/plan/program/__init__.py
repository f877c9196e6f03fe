# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a program puts into memory: its project.toml, or what its text shows, in bytes."""
