# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is wrong with memory, and what to do: facts, their cause, remedies, one answer. What tries
a remedy is above (plan)."""
