# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""rknn_api.h for ctypes: flags, codes, structures and signatures of Rockchip's NPU runtime."""

import ctypes

PAGE = 4096  # the driver takes whole pages

# flags of rknn_init
OUTSIDE = 0x10  # weights and internal memory come from the caller
SHARE_WEIGHT = 0x20
INFO_ONLY = 0x100  # the file is only described; with OUTSIDE it takes no memory in any version
# only the internal memory comes from the caller; runtimes before 1.5.2 take no notice
INTERNAL_OUTSIDE = 0x200
# these are taken by older runtimes without a word: cost.py asks for a call that came with them
ENABLE_SRAM, SHARE_SRAM = 0x800, 0x1000  # 1.6.0
NO_FLUSH_INPUTS, NO_FLUSH_OUTPUTS = 0x4000, 0x8000  # 2.0.0
ZERO_COPY = 0x10000  # 2.2.0

# flags of rknn_create_mem2: not through the CPU's cache; in SRAM as far as there is any; of no
# context (2.2.0)
UNCACHED, TRY_SRAM, NO_CONTEXT = 0x2, 0x4, 0x20000

# commands of rknn_query
IN_OUT_NUM, SDK_VERSION, MEM_SIZE = 0, 5, 6
INPUT_ATTR, OUTPUT_ATTR, NATIVE_INPUT_ATTR, NATIVE_OUTPUT_ATTR = 1, 2, 8, 9
DYNAMIC_RANGE, CURRENT_INPUT_ATTR, CURRENT_OUTPUT_ATTR = 13, 14, 15

# modes of rknn_mem_sync
TO_DEVICE, FROM_DEVICE = 1, 2

# rknn_tensor_type: name -> number and bytes of an element
_NAMES = "float32 float16 int8 uint8 int16 uint16 int32 uint32 int64 bool".split()
TYPES = {name: (i, int("4211224481"[i])) for i, name in enumerate(_NAMES)}
FORMATS = ("nchw", "nhwc", "nc1hwc2", "undefined")  # rknn_tensor_format: 0, 1, 2, 3

# --- layouts ---

_WORD = ctypes.sizeof(ctypes.c_void_p)
Handle = ctypes.c_uint32 if _WORD == 4 else ctypes.c_uint64  # rknn_context


class TensorMem(ctypes.Structure):
    """rknn_tensor_mem."""

    _fields_ = [
        ("virt", ctypes.c_void_p),
        ("phys", ctypes.c_uint64),
        ("fd", ctypes.c_int32),
        ("offset", ctypes.c_int32),
        ("size", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("priv", ctypes.c_void_p),
    ]


# The printed manual gives `reserved` 12 words; the header, and the library, 10.
class MemSize(ctypes.Structure):
    """rknn_mem_size, in bytes. `dma` of a load from a path counts the file twice."""

    _fields_ = [
        ("weight", ctypes.c_uint32),
        ("internal", ctypes.c_uint32),
        ("dma", ctypes.c_uint64),
        ("sram", ctypes.c_uint32),
        ("sram_free", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32 * 10),
    ]


class TensorAttr(ctypes.Structure):
    """rknn_tensor_attr."""

    _fields_ = [
        ("index", ctypes.c_uint32),
        ("n_dims", ctypes.c_uint32),
        ("dims", ctypes.c_uint32 * 16),
        ("name", ctypes.c_char * 256),
        ("n_elems", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("fmt", ctypes.c_int32),
        ("type", ctypes.c_int32),
        ("qnt_type", ctypes.c_int32),
        ("fl", ctypes.c_int8),
        ("zp", ctypes.c_int32),
        ("scale", ctypes.c_float),
        ("w_stride", ctypes.c_uint32),
        ("size_with_stride", ctypes.c_uint32),
        ("pass_through", ctypes.c_uint8),
        ("h_stride", ctypes.c_uint32),
    ]


class InputRange(ctypes.Structure):
    """rknn_input_range: the shapes that an input of a dynamic model may have."""

    _fields_ = [
        ("index", ctypes.c_uint32),
        ("count", ctypes.c_uint32),
        ("fmt", ctypes.c_int32),
        ("name", ctypes.c_char * 256),
        ("shapes", ctypes.c_uint32 * 16 * 512),
        ("n_dims", ctypes.c_uint32),
    ]


class InitExtend(ctypes.Structure):
    """rknn_init_extend."""

    _fields_ = [
        ("ctx", Handle),
        ("model_offset", ctypes.c_int32),
        ("model_size", ctypes.c_uint32),
        ("model_fd", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
        ("reserved", ctypes.c_uint8 * 112),
    ]


class Counts(ctypes.Structure):
    """rknn_input_output_num."""

    _fields_ = [("inputs", ctypes.c_uint32), ("outputs", ctypes.c_uint32)]


class Version(ctypes.Structure):
    """rknn_sdk_version."""

    _fields_ = [("api", ctypes.c_char * 256), ("driver", ctypes.c_char * 256)]


# bytes of each structure with pointers of 8 bytes and of 4, from the header compiled for both
SIZES = {TensorMem: (40, 40), MemSize: (64, 64), TensorAttr: (376, 376), InitExtend: (136, 132)}
for _struct, _sizes in SIZES.items():
    if ctypes.sizeof(_struct) != _sizes[_WORD == 4]:
        text = "{}: {} bytes here, {} in rknn_api.h"
        raise ImportError(text.format(_struct, ctypes.sizeof(_struct), _sizes[_WORD == 4]))

_I, _U, _L, _P = ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
_MEM = ctypes.POINTER(TensorMem)
_ATTR = ctypes.POINTER(TensorAttr)
# every runtime has these: the full one from 1.4.0, the mini one from 1.4.0
CALLS = {
    "rknn_init": (_I, (ctypes.POINTER(Handle), _P, _U, _U, ctypes.POINTER(InitExtend))),
    "rknn_destroy": (_I, (Handle,)),
    "rknn_query": (_I, (Handle, _I, _P, _U)),
    "rknn_run": (_I, (Handle, _P)),
    "rknn_create_mem": (_MEM, (Handle, _U)),
    "rknn_create_mem_from_phys": (_MEM, (Handle, _L, _P, _U)),
    "rknn_destroy_mem": (_I, (Handle, _MEM)),
    "rknn_set_weight_mem": (_I, (Handle, _MEM)),
    "rknn_set_internal_mem": (_I, (Handle, _MEM)),
    "rknn_set_io_mem": (_I, (Handle, _MEM, _ATTR)),
}
# these are not in all of them; the first version that has it, where that is known
LATER_CALLS = {
    "rknn_create_mem_from_fd": (_MEM, (Handle, _I, _P, _U, _I)),  # not on RK2118
    "rknn_dup_context": (_I, (ctypes.POINTER(Handle), ctypes.POINTER(Handle))),
    "rknn_set_core_mask": (_I, (Handle, _I)),  # not the mini runtime
    "rknn_set_input_shapes": (_I, (Handle, _U, _ATTR)),  # 1.5.2
    "rknn_mem_sync": (_I, (Handle, _MEM, _I)),  # 1.6.0
    "rknn_create_mem2": (_MEM, (Handle, _L, _L)),  # 2.0.0
}


def pages(nbytes: int) -> int:
    """What the driver takes for a request of `nbytes`."""
    return (nbytes + PAGE - 1) // PAGE * PAGE
