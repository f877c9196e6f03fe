# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""rknn_init by plain calls while the driver has no memory for its k-th piece and all later ones,
then rknn_destroy.

rknn_starved.py ROOT VERSION MODEL FLAG K. A row that is missing: the process ended there.
"""

import ctypes
import os
import sys

from rknn_board import board, tell


def main(name, flag, k):
    there, _ = board()
    from maixmem_rknn import api

    calls = {}
    for call, (result, arguments) in api.CALLS.items():
        calls[call] = getattr(there.lib, call)
        calls[call].restype, calls[call].argtypes = result, arguments
    with open(there.path(name), "rb") as f:
        data = f.read()
    buf = (ctypes.c_ubyte * len(data)).from_buffer_copy(data)
    ctx = api.Handle(0)
    there.fail(k)
    code = calls["rknn_init"](ctx, buf, len(data), flag, None)
    there.fail(0)
    tell("init", code, there.live())
    tell("destroy", calls["rknn_destroy"](ctx), there.live())


asked = sys.argv[3], int(sys.argv[4], 0), int(sys.argv[5])
del sys.argv[3:6]
main(*asked)
sys.stdout.flush()
os._exit(0)
