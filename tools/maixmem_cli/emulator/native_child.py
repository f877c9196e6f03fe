# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The process of a board that is a shared library: does what cores.Native asks on stdin, until
that is closed. A mistake in C ends this process alone. Needs nothing but Python's own library."""

import ctypes
import pickle
import sys

_ARGUMENTS = {
    "k_limit": (ctypes.c_uint32, ctypes.c_uint64),
    "k_hook": (ctypes.c_uint64, ctypes.c_uint32),
    "k_trace": (ctypes.c_uint64,) * 3,
    "k_live": (ctypes.c_uint64,) * 3,
    "k_guard": (ctypes.c_uint64,) * 2,
}
_ADDRESSES = ("k_place", "k_state")


def main() -> None:
    board = ctypes.CDLL(sys.argv[1])
    for name, kinds in _ARGUMENTS.items():
        getattr(board, name).argtypes = kinds
    for name in _ADDRESSES:
        getattr(board, name).restype = ctypes.c_size_t
    while True:
        try:
            what, first, second = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer = None
        if what == "call":
            answer = getattr(board, first)(*second)
        elif what == "read":
            answer = ctypes.string_at(first, second)
        else:
            ctypes.memmove(first, second, len(second))
        pickle.dump(answer, sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
