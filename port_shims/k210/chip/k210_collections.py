# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""collections as the firmware has it: a deque takes at one end and gives at the other."""

from collections import deque as _deque


class deque(_deque):
    def __init__(self, items, most, *flags):
        if items != ():
            raise ValueError("")
        super().__init__(items, most, *flags)

    def __getitem__(self, at):
        raise TypeError("'deque' object isn't subscriptable")

    def __iter__(self):
        raise TypeError("'deque' object isn't iterable")
