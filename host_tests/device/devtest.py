# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What device tests use: Skip, needs, raises, imports_of, heap_locked, and the loop that runs them
on an interpreter or a board.

A device test file is plain functions named test_* with asserts. It may set
    NEEDS = ("shim",)     it drives the stand-in board, so a real board cannot run it
    NEEDS = ("unix",)     names of interpreters it is limited to, of kits/interpreters.py
    NEEDS = ("not unix",) that it leaves out
    HEAP = "4m" GC heap for mp2019, where suites.HEAP is too small: its collector works by
    hand only

OLD is True on mp2019 (MicroPython v1.10, compiled to WebAssembly) and nowhere else. SLOW is True
there and on a Pico, in hardware or software: long runs are shorter there, with the same checks.
DESK is True on CPython, which is fastest: what depends on numbers alone is tried in its smallest
steps there, and in larger ones elsewhere.
"""

import gc
import sys

OLD = sys.platform == "javascript" and sys.implementation.version < (1, 12)
DESK = sys.implementation.name == "cpython"
SLOW = OLD or sys.platform in ("rp2", "RP2040")
if OLD:  # modules of this runner load at first use, and the stand-in has the board's uctypes
    import k210_board

    k210_board.ram

# what is imported from here on lies close together: this heap has the stand-in in it as well
_ON_UNIX = sys.platform == "linux" and hasattr(gc, "threshold")
if _ON_UNIX:
    gc.threshold(32768)


class Skip(Exception):
    """Raised by a test that cannot run here; its text says why."""


def needs(*calls):
    """Skips where this firmware lacks a call, such as "Maix.utils.flash_read": it is asked, its
    version is not known."""
    for call in calls:
        names = call.split(".")
        found = __import__(names[0])
        for name in names[1:]:
            found = getattr(found, name, None)
        if found is None:
            raise Skip("not on this firmware: " + call)


def raises(kind, f, *args, **kw):
    """Calls f and returns the exception of class `kind` that it must raise."""
    try:
        f(*args, **kw)
    except kind as e:
        return e
    raise AssertionError("{} was not raised".format(kind.__name__))


def imports_of(f):
    """Calls f and returns the names of the modules that the library's resident() and run_once()
    imported meanwhile."""
    if OLD:
        raise Skip("the modules of this runner are objects: their globals are out of reach")
    import maixmem

    found = []
    plain = __import__

    def note(name):
        found.append(name)
        return plain(name)

    maixmem.__import__ = note
    try:
        f()
    finally:
        del maixmem.__import__
    return found


def heap_locked(f, *args):
    """Calls f(*args), with at most one argument, while allocation is forbidden; False where there
    is no heap lock."""
    try:
        from micropython import heap_lock, heap_unlock
    except ImportError:
        f(*args)
        return False
    arg = args[0] if args else None
    gc.collect()
    heap_lock()
    try:
        if args:
            f(arg)  # f(*args) itself would allocate
        else:
            f()
    finally:
        heap_unlock()
    return True


def run(module, names):
    """Runs the named tests of a module and prints one marked line for each, as the host expects
    them."""
    if _ON_UNIX:
        gc.threshold(-1)
    for name in names:
        gc.collect()
        if DESK:
            gc.freeze()  # the stand-in and the tests are not looked at at each collection
        try:
            getattr(module, name)()
            print("@PASS", name)
        except Skip as e:
            print("@SKIP", name, e)
        except Exception as e:
            print("@FAIL", name)
            _print_exception(e)
    print("@DONE")


def _print_exception(e):
    if hasattr(sys, "print_exception"):
        sys.print_exception(e)
        return
    try:
        import traceback
    except ImportError:  # CircuitPython's unix port
        print(repr(e))
    else:
        traceback.print_exception(type(e), e, e.__traceback__)
