# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What would happen: a project or script against a firmware, and what to change."""
