# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Numbered fault points of the Linux shims: each call that can fail on the device passes one."""


# Contract.  A shim calls point(name) where the device can fail.  Points are numbered from 1 since clear(); `count` is
# how many were passed and `names` their names in order.  fail(k, exc) arms point k: once, or with `forever` at every
# later pass of a point with the same name.  An exception (or a class of one) is raised there; anything else is what
# point() returns, for interfaces that report failure by a code or NULL.  Unarmed, point() returns None.
class Faults:
    def __init__(self):
        self.clear()

    def clear(self):
        """Arms nothing and counts from zero."""
        self.count = 0
        self.names = []
        self.fail(0, None)

    def fail(self, k, exc, forever=False):
        """Arms point k with an exception or a code."""
        self._k = k
        self._exc = exc
        self._forever = forever
        self._again = None

    def point(self, name):
        """Passes one point; see the contract."""
        self.count += 1
        self.names.append(name)
        if self.count == self._k:
            self._again = name if self._forever else None
        elif name != self._again:
            return None
        exc = self._exc
        if isinstance(exc, BaseException):
            exc.__traceback__ = exc.__context__ = (
                None  # the one of an earlier pass would keep its frames alive
            )
        if isinstance(exc, (BaseException, type)):
            raise exc
        return exc
