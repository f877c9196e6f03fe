# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Numbered fault points: each call of a shim that can fail on the device passes one of them."""


# Contract.  A shim calls point(name) at every place where the device can fail.  fail(k, exc) arms the k-th point
# from now on, once or, with `forever`, every point from the k-th.  `exc` is raised when it is an exception (or a
# class of one); anything else is what point() returns there, for interfaces that report failure by a code or NULL;
# elsewhere point() returns None.  `count` and `names` are the points passed since the last fail() or clear().
class Faults:
    def __init__(self):
        self.clear()

    def clear(self):
        """Arms nothing and counts from zero."""
        self.fail(0, None)

    def fail(self, k, exc, forever=False):
        """Arms the k-th point from now on (1 is the next)."""
        self.count = 0
        self.names = []
        self._k = k
        self._exc = exc
        self._forever = forever

    def point(self, name):
        """Passes one point; see the contract."""
        self.count += 1
        self.names.append(name)
        if not self._k or self.count < self._k or (self.count > self._k and not self._forever):
            return None
        if isinstance(self._exc, BaseException) or isinstance(self._exc, type):
            raise self._exc
        return self._exc
