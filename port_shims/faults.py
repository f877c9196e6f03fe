# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Numbered fault points of all stand-ins: each call that can fail on the device passes one."""

_NAMED = 512


# Contract. A stand-in calls point(name) where the device can fail. Points are numbered from 1
# since clear(); `count` is how many were passed and `names` the names of the first `keep` of them
# in order. fail(k, exc) arms point k: once, or with `forever` at every later pass of a point with
# the same name. An exception (or a class of one) is raised there; anything else is what point()
# returns, for interfaces that report failure by a code or NULL. Unarmed, point() returns None.
# Runs on MicroPython too.
class Faults:
    def __init__(self, keep=_NAMED):
        self.keep = keep
        self.names = []
        self.clear()

    def clear(self):
        """Arms nothing and counts from zero."""
        self.count = 0
        self.names[:] = []
        self._arm(0, None, False)

    def fail(self, k, exc, forever=False):
        """Arms point k with an exception or a code."""
        if k < 1:
            raise ValueError("fault points are numbered from 1, not %d" % k)
        self._arm(k, exc, forever)

    def _arm(self, k, exc, forever):
        self._k = k
        self._exc = exc
        self._forever = forever
        self._again = None

    def point(self, name):
        """Passes one point; see the contract."""
        self.count += 1
        if len(self.names) < self.keep:
            self.names.append(name)
        if self.count == self._k:
            self._again = name if self._forever else None
        elif name != self._again:
            return None
        exc = self._exc
        if isinstance(exc, BaseException):
            _forget(exc)
        if isinstance(exc, (BaseException, type)):
            raise exc
        return exc


def _forget(exc):
    """Drops the frames of an earlier pass, which it would keep alive."""
    try:
        exc.__traceback__ = exc.__context__ = None
    except AttributeError:  # MicroPython has no such attributes
        pass
