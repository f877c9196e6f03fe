# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A model for several shapes by plain calls: what it says before it has one, and memory attached
to its input then.

rknn_no_shape.py ROOT VERSION. A row that is missing: the process ended there.
"""

import ctypes
import os
import sys

from rknn_board import board, tell


def main():
    there, _ = board()
    from maixmem_rknn import api

    calls = {}
    for call, (result, arguments) in api.CALLS.items():
        calls[call] = getattr(there.lib, call)
        calls[call].restype, calls[call].argtypes = result, arguments
    with open(there.path("shapes"), "rb") as f:
        data = f.read()
    buf = (ctypes.c_ubyte * len(data)).from_buffer_copy(data)
    ctx = api.Handle(0)
    tell("init", calls["rknn_init"](ctx, buf, len(data), 0, None))
    for command in (api.CURRENT_INPUT_ATTR, api.INPUT_ATTR):
        attr = api.TensorAttr()
        size = ctypes.sizeof(attr)
        code = calls["rknn_query"](ctx, command, ctypes.byref(attr), size)
        tell("attr", command, code, list(attr.dims[: attr.n_dims]))
    mem = calls["rknn_create_mem"](ctx, attr.size_with_stride)
    tell("create", bool(mem))
    tell("set_io_mem", calls["rknn_set_io_mem"](ctx, mem, attr))


main()
sys.stdout.flush()
os._exit(0)
