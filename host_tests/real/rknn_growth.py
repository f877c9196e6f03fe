# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a load and unload costs the process for good: bytes of its own data, of each model; and
whether the port says so.

The runtime's own calls alone come first, so that what is ours and what is not can be told apart.
"""

import ctypes
import os
import sys

from rknn_board import MODELS, board, tell

there, version = board()
import maixmem_rknn  # noqa: E402
from maixmem_linux import process  # noqa: E402
from maixmem_rknn import api  # noqa: E402

FIRST, MORE = 20, 80


def plain(data):
    """rknn_init, rknn_create_mem, rknn_set_internal_mem and the ends of both."""
    ctx = api.Handle(0)
    buf = (ctypes.c_ubyte * len(data)).from_buffer_copy(data)
    assert there.lib.rknn_init(ctx, buf, len(buf), 0x10, None) == 0
    size = api.MemSize()
    assert there.lib.rknn_query(ctx, api.MEM_SIZE, ctypes.byref(size), ctypes.sizeof(size)) == 0
    mems = [there.lib.rknn_create_mem(ctx, n) for n in (size.weight, size.internal)]
    there.lib.rknn_set_weight_mem(ctx, mems[0])
    there.lib.rknn_set_internal_mem(ctx, mems[1])
    for mem in mems:
        there.lib.rknn_destroy_mem(ctx, mem)
    there.lib.rknn_destroy(ctx)


def each(call):
    """Bytes that one call left, in the middle of many."""
    for _ in range(FIRST):
        call()
    before = process.heap_bytes()
    for _ in range(MORE):
        call()
    return (process.heap_bytes() - before) // MORE


for name in [name for name in MODELS if version >= MODELS[name][2]]:
    with open(there.path(name), "rb") as f:
        data = f.read()
    port = maixmem_rknn.Port(there.lib, soc="rk3588", budget=64 << 20)
    by_itself = each(lambda data=data: plain(data))
    ours = each(lambda data=data, port=port: port.unload(port.load(data)))
    tell(name, by_itself, ours, port.warnings(), there.live())
sys.stdout.flush()
os._exit(0)
