# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A K210 in software: its chip, its files, what is read from its memory."""
