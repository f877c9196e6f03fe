# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the ports on CPython have in common: threads.py, one of them at a time in a model
manager."""
