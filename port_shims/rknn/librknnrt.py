# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stands in for ctypes.CDLL("librknnrt.so"): C function pointers with the real signatures, over
the stand-in runtime.

    lib = librknnrt.shared_object("rk3588", capacity=16 << 20, version="1.5.2")
    lib.rknn_init.argtypes = [...]; lib.rknn_init(ctypes.byref(ctx), buf, len(buf), 0, None)

Arguments pass through the C calling convention, so a caller that declares them wrongly gets what
it would get on a board. `lib.runtime` is the runtime itself: its memory (`.npu`), its fault points
(`.faults`), its log (`.log`).
"""

import ctypes

from rknn_objects import PROFILES, RELEASES, Crash
from rknn_runtime import Runtime

_TYPES = {"i": ctypes.c_int32, "I": ctypes.c_uint32, "Q": ctypes.c_uint64, "p": ctypes.c_void_p}
_TYPES["c"] = (
    ctypes.c_uint32 if ctypes.sizeof(ctypes.c_void_p) == 4 else ctypes.c_uint64
)  # rknn_context

# name: result and arguments, as rknn_api.h declares them (c = rknn_context, an enumeration = i)
_SIGNATURES = {
    "rknn_init": ("i", "ppIIp"),
    "rknn_dup_context": ("i", "pp"),
    "rknn_destroy": ("i", "c"),
    "rknn_query": ("i", "cipI"),
    "rknn_run": ("i", "cp"),
    "rknn_create_mem": ("p", "cI"),
    "rknn_create_mem_from_fd": ("p", "cipIi"),
    "rknn_create_mem_from_phys": ("p", "cQpI"),
    "rknn_destroy_mem": ("i", "cp"),
    "rknn_set_weight_mem": ("i", "cp"),
    "rknn_set_internal_mem": ("i", "cp"),
    "rknn_set_io_mem": ("i", "cpp"),
}
# these only where the release has them
_LATER = {
    "rknn_set_core_mask": ("i", "ci"),
    "rknn_create_mem2": ("p", "cQQ"),
    "rknn_set_input_shapes": ("i", "cIp"),
    "rknn_mem_sync": ("i", "cpi"),
}


# What attributes of a CDLL are: a foreign function with settable argtypes and restype.
class _Function(ctypes._CFuncPtr):
    _flags_ = ctypes._FUNCFLAG_CDECL
    _restype_ = ctypes.c_int


# Contract. Every call passes the fault point of its name. A code from there is returned without
# any effect (NULL from the functions that return a pointer). An exception is delivered when the
# call has returned, as Python delivers a signal: its effect has happened. Only where the result
# would be lost with it (pointers) does it come before the effect. After a Crash the process is
# dead: every later call raises it again.
class Library:
    def __init__(self, runtime, name):
        self._name = name
        self.runtime = runtime
        self._thunks = []
        cores = () if runtime.profile.mini else ("rknn_set_core_mask",)
        later = {name: _LATER[name] for name in runtime.release.later + cores}
        for function, (result, arguments) in {**_SIGNATURES, **later}.items():
            setattr(self, function, self._function(function, result, arguments))

    def meminfo(self):
        """/proc/meminfo as {key: bytes}: NPU memory comes out of the same RAM (or CMA on the small
        chips)."""
        npu = self.runtime.npu
        free = npu.capacity - npu.live
        area = {
            "MemTotal": 256 << 20,
            "MemAvailable": 128 << 20,
            "CmaTotal": npu.capacity,
            "CmaFree": free,
        }
        if not self.runtime.profile.mini:
            area.update(
                {"MemTotal": npu.capacity, "MemAvailable": free, "CmaTotal": 0, "CmaFree": 0}
            )
        return area

    def _function(self, name, result, arguments):
        body = getattr(self.runtime, name[len("rknn_") :])

        def enter(*args):
            try:
                return self._call(name, body, result == "p", args)
            except BaseException as e:
                self.runtime.pending = e
                return 0

        def leave(value, function, args):
            e, self.runtime.pending = self.runtime.pending, None
            if e is not None:
                raise e
            if name == "rknn_init":
                self.runtime.hold_buffer(args[1])
            return value

        prototype = ctypes.CFUNCTYPE(_TYPES[result], *[_TYPES[c] for c in arguments])
        thunk = prototype(enter)
        self._thunks.append(thunk)
        function = _Function(ctypes.cast(thunk, ctypes.c_void_p).value)
        function.errcheck = leave
        return function

    def _call(self, name, body, pointer, args):
        runtime = self.runtime
        if runtime.dead:
            raise runtime.dead
        code = runtime.point(name)
        if pointer:
            return 0 if code is not None or runtime.pending else body(*args)
        if code is None:
            return body(*args)
        return runtime.refused_init(code, *args) if name == "rknn_init" else code


def shared_object(profile="rk3588", capacity=64 << 20, strict=True, version="1.6.0"):
    """A fresh process on a board of that profile, with a runtime of that version. With `strict`,
    what would corrupt memory raises Crash."""
    if profile not in PROFILES:
        raise ValueError("unknown profile %r: %s" % (profile, ", ".join(sorted(PROFILES))))
    if version not in RELEASES:
        raise ValueError("unknown version %r: %s" % (version, ", ".join(RELEASES)))
    runtime = Runtime(PROFILES[profile], capacity, strict, version)
    return Library(runtime, "librknnmrt.so" if runtime.profile.mini else "librknnrt.so")
