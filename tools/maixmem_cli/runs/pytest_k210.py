# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The older name of maixmem_cli.pytest_k210, as a conftest.py may have it."""

pytest_plugins = ["maixmem_cli.pytest_k210"]
