# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the parts of the chip have in common: C objects of the firmware, with the names of their
type and no others."""


def keep(part, name, value):
    """Sets an attribute of a part: programs cannot."""
    object.__setattr__(part, name, value)


class Part:
    def __setattr__(self, name, value):
        raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))
