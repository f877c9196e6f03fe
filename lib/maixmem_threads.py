# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Model managers for several threads on MicroPython: they wait for each other. Comes in with the
first manager where the firmware has threads, and stays."""

import _thread
import time

_waiting = []  # type: list[int]  # threads in the order in which they came; the first is inside


def guard(manager) -> None:
    """Makes managers of this one's class safe for several threads: they wait for each other."""
    kind = type(manager)
    if not hasattr(kind, "alone"):
        # use() itself does not wait: a resident model is handed out at once
        for name in "add forget loaded release release_all status _switch".split():
            setattr(kind, name, _alone(getattr(kind, name)))
        kind.alone = True
    me = _thread.get_ident()
    while me in _waiting:  # a program that was stopped just then
        _waiting.remove(me)


# append() and remove() of a list are one step of the interpreter, so no lock is needed.
def _alone(method):
    def call(*args, **how):
        me = _thread.get_ident()
        if _waiting[:1] == [me]:  # inside already: the manager says whether it may
            return method(*args, **how)
        try:
            _waiting.append(me)
            while _waiting[0] != me:
                time.sleep(0.001)
            result = method(*args, **how)
        finally:
            _waiting.remove(me)
        return result

    return call
