# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Readers of heaps: over any memory (a board's in software, a file, a cable with a cache) and any
layout of an interpreter; they know neither emulator nor command."""
