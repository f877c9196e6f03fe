# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""gc, sys and micropython as the board has them, in place of the interpreter's own."""

import gc as _gc
import sys as _sys
from collections import namedtuple

import k210_board as board
from k210_garbage import books
from k210_gc import NATIVE, heap

_BLOCK = 32
_NO_NAME = "" if _sys.implementation.name == "micropython" else "implementation"
_COMPLETE = (
    "mem: total=%d, current=%d, peak=%d\nstack: %d out of %d\nGC: total: %d, used: %d, free: %d"
)


try:
    print_exception = _sys.print_exception
except AttributeError:  # CPython
    import traceback

    def print_exception(e, file=None):
        traceback.print_exception(type(e), e, e.__traceback__, file=file)


_threshold = [-1]  # where the interpreter here has none (CPython)


def _none(args):
    """Refuses arguments; a look at them that the table asks for would take some of the heap that
    is counted here."""
    if args:
        raise TypeError("function takes 0 positional arguments but %d were given" % len(args))


# Bytes of the board's GC heap: the interpreter's without what the stand-in has of it.
class gc:
    @staticmethod
    def collect(*args):
        _none(args)
        board.alive()
        books.collect()
        board.sweep()

    @staticmethod
    def mem_free(*args):
        _none(args)
        if NATIVE and not books.hidden:  # no script has begun
            return _gc.mem_free()
        return heap.pool - books.alloc()

    @staticmethod
    def mem_alloc(*args):
        _none(args)
        return books.alloc()

    @staticmethod
    def disable(*args):
        _none(args)
        if _gc.isenabled():
            books.open()
        _gc.disable()

    @staticmethod
    def enable(*args):
        _none(args)
        if not _gc.isenabled():
            books.close()
        _gc.enable()

    @staticmethod
    def threshold(*value):
        if hasattr(_gc, "threshold"):
            return _gc.threshold(*value)
        if not value:
            return _threshold[0]
        _threshold[0] = value[0]


class sys:
    argv = []
    byteorder = "little"
    implementation = namedtuple(_NO_NAME, ("name", "version"))("micropython", (0, 6, 2))
    maxsize = 2147483647
    modules = _sys.modules
    path = _sys.path
    print_exception = staticmethod(print_exception)
    platform = "MaixPy"
    version = "3.4.0"
    version_info = (3, 4, 0)

    @staticmethod
    def exit(*status):
        raise SystemExit(*status)


class micropython:
    @staticmethod
    def const(value):
        return value

    @staticmethod
    def mem_info(*verbose):
        alloc, free = gc.mem_alloc(), gc.mem_free()
        print(_COMPLETE % (29802, 8782, 15735, 1156, 32768, alloc + free, alloc, free))
        print(
            " No. of 1-blocks: %d, 2-blocks: %d, max blk sz: %d, max free sz: %d"
            % (0, 0, 0, board.gc_largest() // _BLOCK)
        )
        _gc.collect()  # what the search for the largest left behind

    @staticmethod
    def mem_total():
        return 29802

    @staticmethod
    def mem_current():
        return 8782

    @staticmethod
    def mem_peak():
        return 15735

    @staticmethod
    def stack_use():
        return 1156

    @staticmethod
    def opt_level(*level):
        return None if level else 0

    @staticmethod
    def schedule(function, argument):
        function(argument)

    @staticmethod
    def nothing(*args):
        pass

    alloc_emergency_exception_buf = heap_lock = heap_unlock = kbd_intr = qstr_info = nothing
