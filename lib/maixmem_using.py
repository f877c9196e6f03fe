# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A with block in which a model stays: what ModelManager.using() gives. Comes in with the first
one, and stays."""


# Holds what use() handed out, perhaps the fallback, until its block ends; then it may be entered
# again. One object a call; entering and leaving allocate what use() does.
class Using:
    """One with block of one model."""

    def __init__(self, manager, name) -> None:
        manager.models.get(name) or manager._find(name)
        self.manager = manager
        self.name = name

    def __enter__(self):
        net = self.net = self.manager.use(self.name)
        net.pin_count += 1
        return net

    def __exit__(self, kind, e, trace) -> None:
        if self.net.pin_count:  # release() may have ended it
            self.net.pin_count -= 1
