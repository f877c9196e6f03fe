# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The one table of errors: what a message means on which board and what to do, and how it is found
in a log. advise() on the board, explain, sim, profile, doctor and docs/errors.md come from it."""
