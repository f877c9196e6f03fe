# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The one line that gives the tests a board."""

pytest_plugins = ["maixmem_shims.pytest_k210"]
