# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the real libcviruntime, on its chip model, has allocated once a .cvimodel is loaded and its
tensors are asked for.

python3 cvi_allocations.py LIBRARIES FILE
"""

import ctypes
import json
import os
import sys

folder, path = sys.argv[1:3]
os.environ["SET_CHIP_NAME"] = "cv181x"
for name in ("libcvikernel.so", "libcvicmodel.so"):
    ctypes.CDLL(os.path.join(folder, name), ctypes.RTLD_GLOBAL)
lib = ctypes.CDLL(os.path.join(folder, "libcviruntime.so"))
pointer = ctypes.c_void_p
lib.CVI_RT_MemAlloc.restype = pointer
lib.CVI_RT_MemAlloc.argtypes = [pointer, ctypes.c_uint64]
lib.CVI_RT_MemFree.argtypes = [pointer, pointer]
live = {}


def alloc(handle, nbytes, kind, name):
    mem = lib.CVI_RT_MemAlloc(handle, nbytes)
    live[mem] = nbytes
    return mem


def free(handle, mem):
    live.pop(mem, None)
    lib.CVI_RT_MemFree(handle, mem)


on_alloc = ctypes.CFUNCTYPE(pointer, pointer, ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p)(
    alloc
)
on_free = ctypes.CFUNCTYPE(None, pointer, pointer)(free)
lib.CVI_RT_Global_SetMemAllocCallback(on_alloc, on_free)
model, inputs, outputs = pointer(), pointer(), pointer()
counts = [ctypes.c_int32(), ctypes.c_int32()]
code = lib.CVI_NN_RegisterModel(os.fsencode(path), ctypes.byref(model))
if code == 0:
    refs = [ctypes.byref(x) for x in (inputs, counts[0], outputs, counts[1])]
    code = lib.CVI_NN_GetInputOutputTensors(model, *refs)
if code:
    sys.exit(f"libcviruntime refuses {path}: {code}")
print("> " + json.dumps(sum(live.values())), flush=True)
os._exit(0)
