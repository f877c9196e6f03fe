# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Numbered fault points: a test makes the k-th fallible step of the board fail."""

_NAMED = 512


# Contract.  The board calls point(name) before each step that can fail on the device.  Points are numbered from 1
# since reset() or clear(); `count` is how many were passed, `names` the first 512 names in order.  fail(k, exc)
# makes point k raise exc once; with forever=True every later pass of a point with the same name raises it too.
class Faults:
    def __init__(self):
        self.names = []
        self.clear()

    def clear(self):
        self.count = 0
        self.names[:] = []
        self._at = 0
        self._exc = None
        self._forever = False
        self._name = None

    def fail(self, k, exc, forever=False):
        if k < 1:
            raise ValueError("fault points are numbered from 1, not %d" % k)
        self._at = k
        self._exc = exc
        self._forever = forever
        self._name = None

    def point(self, name):
        self.count += 1
        if len(self.names) < _NAMED:
            self.names.append(name)
        if self.count == self._at:
            if self._forever:
                self._name = name
            self._raise()
        if name == self._name:
            self._raise()

    def _raise(self):
        try:
            self._exc.__traceback__ = None  # that of an earlier pass would keep its frames alive
        except AttributeError:  # MicroPython has no such attribute
            pass
        raise self._exc
