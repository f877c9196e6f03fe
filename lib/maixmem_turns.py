# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A model manager for several threads on MicroPython: they wait for each other. Comes in with the
first manager where the firmware has threads, and stays."""

import _thread
import time

# What runs alone. use() itself does not: a resident model is handed out without waiting.
_ALONE = ("add", "forget", "loaded", "release", "release_all", "status")
_waiting = []  # type: list[int]  # threads in the order in which they came; the first is inside


def guard(manager) -> None:
    """Makes a manager safe for several threads; all managers wait for each other."""
    me = _thread.get_ident()
    while me in _waiting:  # a program that was stopped just then
        _waiting.remove(me)
    for name in _ALONE:
        setattr(manager, name, _alone(getattr(manager, name)))
    switch = manager._switch
    # another thread may have loaded it meanwhile
    manager._switch = _alone(lambda net: net.ready or switch(net))


# append() and remove() of a list are one step of the interpreter, so no lock is needed.
def _alone(method):
    def call(*args, **how):
        me = _thread.get_ident()
        if _waiting[:1] == [me]:  # a setup that uses another model
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
