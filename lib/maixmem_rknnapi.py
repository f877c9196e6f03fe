# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""rknn_api.h for ctypes: flags, codes, structures and signatures of Rockchip's NPU runtime."""

import ctypes

PAGE = 4096  # the driver takes whole pages

# flags of rknn_init
OUTSIDE = 0x10  # weights and internal memory come from the caller
SHARE_WEIGHT = 0x20
INFO_ONLY = 0x100
INTERNAL_OUTSIDE = 0x200  # only the internal memory comes from the caller

# commands of rknn_query
IN_OUT_NUM, SDK_VERSION, MEM_SIZE = 0, 5, 6
INPUT_ATTR, OUTPUT_ATTR, NATIVE_INPUT_ATTR, NATIVE_OUTPUT_ATTR = 1, 2, 8, 9

# modes of rknn_mem_sync
TO_DEVICE, FROM_DEVICE = 1, 2

_ERRORS = {
    -1: "RKNN_ERR_FAIL",
    -2: "RKNN_ERR_TIMEOUT",
    -3: "RKNN_ERR_DEVICE_UNAVAILABLE",
    -4: "RKNN_ERR_MALLOC_FAIL",
    -5: "RKNN_ERR_PARAM_INVALID",
    -6: "RKNN_ERR_MODEL_INVALID",
    -7: "RKNN_ERR_CTX_INVALID",
    -8: "RKNN_ERR_INPUT_INVALID",
    -9: "RKNN_ERR_OUTPUT_INVALID",
    -10: "RKNN_ERR_DEVICE_UNMATCH",
    -11: "RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL",
    -12: "RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION",
    -13: "RKNN_ERR_TARGET_PLATFORM_UNMATCH",
}
MALLOC_FAIL = -4
MODEL_INVALID = -6
BAD_PHYS = (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)  # what a memory made of a bad descriptor holds


class RknnError(RuntimeError):
    """A call that the runtime refused: `.code` is its own code; the message ends with code and name."""

    def __init__(self, text, code):
        super().__init__("{}: {} {}".format(text, code, _ERRORS.get(code, "unknown")))
        self.code = code


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


# bytes of each structure by pointer size, from the header compiled for both
SIZES = {
    TensorMem: {8: 40, 4: 40},
    MemSize: {8: 64, 4: 64},
    TensorAttr: {8: 376, 4: 376},
    InitExtend: {8: 136, 4: 132},
}
for _struct, _sizes in SIZES.items():
    if ctypes.sizeof(_struct) != _sizes[_WORD]:
        text = "{}: {} bytes here, {} in rknn_api.h"
        raise ImportError(text.format(_struct, ctypes.sizeof(_struct), _sizes[_WORD]))

_I, _U, _L, _P = ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
_MEM = ctypes.POINTER(TensorMem)
CALLS = {
    "rknn_init": (_I, (ctypes.POINTER(Handle), _P, _U, _U, ctypes.POINTER(InitExtend))),
    "rknn_dup_context": (_I, (ctypes.POINTER(Handle), ctypes.POINTER(Handle))),
    "rknn_destroy": (_I, (Handle,)),
    "rknn_query": (_I, (Handle, _I, _P, _U)),
    "rknn_run": (_I, (Handle, _P)),
    "rknn_create_mem": (_MEM, (Handle, _U)),
    "rknn_create_mem_from_fd": (_MEM, (Handle, _I, _P, _U, _I)),
    "rknn_create_mem_from_phys": (_MEM, (Handle, _L, _P, _U)),
    "rknn_destroy_mem": (_I, (Handle, _MEM)),
    "rknn_set_weight_mem": (_I, (Handle, _MEM)),
    "rknn_set_internal_mem": (_I, (Handle, _MEM)),
    "rknn_set_io_mem": (_I, (Handle, _MEM, ctypes.POINTER(TensorAttr))),
    "rknn_mem_sync": (_I, (Handle, _MEM, _I)),
}


def pages(nbytes):
    """What the driver takes for a request of `nbytes`."""
    return (nbytes + PAGE - 1) // PAGE * PAGE
