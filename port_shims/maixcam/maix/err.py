# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Error codes and the exception of MaixPy v4."""

import enum

_NAMES = "NONE ARGS NO_MEM NOT_IMPL NOT_READY NOT_INIT NOT_OPEN NOT_PERMIT"
_NAMES += " REOPEN BUSY READ WRITE TIMEOUT RUNTIME IO NOT_FOUND"

Err = enum.IntEnum("Err", ["ERR_" + name for name in _NAMES.split()], start=0)


class Exception(RuntimeError):  # the name is the device's
    """What a failed constructor raises."""

    def __init__(self, code, text=""):
        super().__init__("%s: %s\n" % (to_str(code), text))
        self.code = code


_WORDS = (
    "No error,Invalid arguments,No memory,Not implemented,Not ready,Not initialized,Not "
    "opened,Not permitted,Re-open,"
)
_WORDS += "Busy,Read error,Write error,Timeout,Runtime error,IO error,Not found"


def to_str(code):
    """The code as words."""
    return _WORDS.split(",")[code]


def check_raise(code, text=""):
    """Raises Exception for any code but ERR_NONE."""
    if code != Err.ERR_NONE:
        raise Exception(code, text)
