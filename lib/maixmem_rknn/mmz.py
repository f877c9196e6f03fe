# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Blocks from Rockchip's own allocator, RK_MPI_MMZ: memory that camera, encoder and NPU can all
name.

block = mmz.alloc(4 << 20)
model = port.load("yolo.rknn", internal=block)
...
port.unload(model)
block.free()
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from maixmem import NoRoom
from maixmem_linux.turn import check_process
from maixmem_linux.whole import whole
from maixmem_text import tell

from maixmem_rknn.api import PAGE
from maixmem_rknn.block import Block

_LIBRARIES = ("librockit.so", "libmpimmz.so")  # RV1103 and RV1106; the others
# RK_MMZ_ALLOC flags
_CMA, _UNCACHEABLE = 0x1, 0x10
_NO_ADDRESS = (0, (1 << 64) - 1)  # of memory in pieces

_I, _U, _L, _P = ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
_CALLS = {
    "RK_MPI_MMZ_Alloc": (_I, (ctypes.POINTER(_P), _U, _U)),
    "RK_MPI_MMZ_Free": (_I, (_P,)),
    "RK_MPI_MMZ_Handle2PhysAddr": (_L, (_P,)),
    "RK_MPI_MMZ_Handle2VirAddr": (_P, (_P,)),
    "RK_MPI_MMZ_Handle2Fd": (_I, (_P,)),
}


# Contract. Owns its memory until free(), which refuses while a model uses it: the NPU would go on
# writing there. Both a descriptor and, where the memory is in one piece, a physical address.
class MmzBlock(Block):
    """A Block of the allocator's memory, in whole pages."""

    def __init__(self, calls: dict[str, Any], handle: Any, nbytes: int, cached: bool) -> None:
        virt = calls["RK_MPI_MMZ_Handle2VirAddr"](handle)
        phys = calls["RK_MPI_MMZ_Handle2PhysAddr"](handle)
        fd = calls["RK_MPI_MMZ_Handle2Fd"](handle)
        phys = None if phys in _NO_ADDRESS else phys
        super().__init__(virt, nbytes, fd if fd >= 0 else None, phys, cached)
        self._free = calls["RK_MPI_MMZ_Free"]
        self._handle = handle
        self._process = os.getpid()

    @whole
    def free(self) -> None:
        """Gives the memory back. Harmless the second time; OSError when the allocator refuses,
        ValueError while models work in it."""
        check_process(self, self._process)
        if self.users:
            text = "{} works in this memory.\nunload it first"
            raise ValueError(tell(text, ", ".join(sorted(set(self.users)))))
        handle, self._handle = self._handle, None
        if handle is not None and self._free(handle) != 0:
            self._handle = handle
            raise OSError(tell("RK_MPI_MMZ_Free refused {}.\nunload the models that use it", self))


@whole
def alloc(nbytes: int, *, cached: bool = False, cma: bool = True, library: Any = None) -> MmzBlock:
    """A new MmzBlock of at least `nbytes`. NoRoom when there is no such memory, ImportError where
    there is no allocator.

    cached: quicker for the CPU; each run then flushes. cma=False: where the NPU has an IOMMU, in
    pieces, without an address.
    """
    if not 0 < nbytes < 1 << 32:
        raise ValueError(f"alloc({nbytes}): 1 to 4294967295 bytes")
    calls = _open(library)
    nbytes = (nbytes + PAGE - 1) // PAGE * PAGE
    handle = _P()
    flags = (_CMA if cma else 0) | (0 if cached else _UNCACHEABLE)
    code = calls["RK_MPI_MMZ_Alloc"](ctypes.byref(handle), nbytes, flags)
    if code != 0 or not handle.value:
        text = "RK_MPI_MMZ_Alloc of {} bytes: {}.\nfree other blocks, or a larger {2}"
        text = tell(text, nbytes, code, "cma= in the kernel's arguments" if cma else "memory")
        short = NoRoom(text, "mmz", nbytes, None)
        short.code = code
        raise short
    try:
        return MmzBlock(calls, handle, nbytes, cached)
    except ValueError:  # an allocator that gives neither address nor descriptor
        calls["RK_MPI_MMZ_Free"](handle)
        raise


def _open(library: Any) -> dict[str, Any]:
    tried = []
    for name in (library,) if library is not None else _LIBRARIES:
        try:
            found = ctypes.CDLL(os.fspath(name)) if isinstance(name, (str, os.PathLike)) else name
            return {call: _bind(found, call, *types) for call, types in _CALLS.items()}
        except (OSError, AttributeError) as e:
            tried.append(str(e))
    text = "no RK_MPI_MMZ here ({}).\ninstall librockit or libmpimmz of your board, or take "
    text += "memory of Port.create()"
    raise ImportError(tell(text, "; ".join(tried)))


def _bind(library: Any, name: str, result: Any, arguments: tuple[Any, ...]) -> Any:
    call = getattr(library, name)
    call.restype, call.argtypes = result, arguments
    return call
