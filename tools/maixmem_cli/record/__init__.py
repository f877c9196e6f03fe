# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a run of a script left behind, as data that every verdict is drawn from."""
