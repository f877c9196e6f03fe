# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Numbers, tables, SVG and what a terminal can show."""
