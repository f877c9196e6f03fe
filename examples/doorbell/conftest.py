# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The line that gives the tests boards: k210 is simulated, k210_firmware runs your image."""

pytest_plugins = ["maixmem_shims.pytest_k210", "maixmem_cli.pytest_k210"]
