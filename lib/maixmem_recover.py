# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""After a use() that failed: what was resident comes back as far as possible, and the error says
what is left.

A one-time part of maixmem_models; where there is no memory for it nothing comes back and the error
is as it was.
"""

from maixmem import KModelError, NoRoom, run_once

# Exceptions of these very classes come back with what is resident in the text; others, such as
# KeyboardInterrupt or an error of the caller's own class, come back as they are.
_PLAIN = (MemoryError, ValueError, RuntimeError, KModelError)


def recover(manager, m, gone: list, e: BaseException) -> BaseException:
    """Loads again what was evicted for m (`gone`), sets manager.state, and returns the exception
    to raise."""
    try:
        _restore(manager, sorted([x for x in gone if not x.ready]))
        manager.state = "rolled_back"
    except BaseException as second:
        if isinstance(e, Exception) and not isinstance(second, Exception):
            e = second  # the user pressed stop
    return explain(manager, m, e)


def _restore(manager, gone):
    for x in gone:
        manager._unload(x)
    for x in gone:
        refusal = manager._refusal(x)
        if refusal or len(manager.loaded()) >= manager.keep:  # a setup loaded others
            raise refusal or MemoryError()
        try:
            refusal = manager._load(x)
            if refusal:
                raise refusal
        except BaseException:
            manager._unload(x)
            raise


def explain(manager, m, e) -> BaseException:
    """The exception of e's class that tells the state as well; e itself when its class is not
    plain."""
    kind = type(e)
    if kind is not NoRoom and kind is not OSError and kind not in _PLAIN:
        return e
    names = ", ".join([str(x.name) for x in manager.loaded() if x.ready]) or "none"
    if manager.state == "rolled_back":
        names += ", as before"
    if kind is OSError and len(e.args) > 1:
        what = e.args[1]
    else:
        try:
            what = manager.port.explain(e)
        except NoRoom:  # to read the words
            what = str(e)
    text = "use({!r}): {} (resident now: {})".format(m.name, what, names)
    if hasattr(what, "steps"):
        text = run_once("text", "like", what, text)
    if kind is NoRoom:
        new = NoRoom(text, e.region, e.need, e.free)
    else:
        new = kind(e.args[0], text) if kind is OSError and e.args else kind(text)
    if kind is NoRoom or kind is KModelError:
        new.code = e.code
    return new
