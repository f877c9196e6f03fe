# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The K210's memory as numbers: builds of the firmware, their boot, both heaps.

No board, no files, no output: the stand-in, the desk's plans and the emulator's readers compute
with it. Imports lib/ alone.
"""
