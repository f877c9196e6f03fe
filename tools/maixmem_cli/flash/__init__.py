# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Images, packages and maps of the 16 MiB of flash."""
