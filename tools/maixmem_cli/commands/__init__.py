# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One file a command: options, what it prints, its exit status. Nothing is computed here."""
