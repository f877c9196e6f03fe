# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Builds of MaixPy: the table, images, files of surveyed boards."""
