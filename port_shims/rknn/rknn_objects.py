# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the stand-in runtime hands out and what chips differ in."""

import ctypes
import struct

from rknn_npu import PAGE

SUCC, FAIL, MALLOC_FAIL, PARAM_INVALID, MODEL_INVALID, CTX_INVALID = 0, -1, -4, -5, -6, -7
OUTSIDE, SHARE_WEIGHT, INFO_ONLY, INTERNAL_OUTSIDE = 0x10, 0x20, 0x100, 0x200
NO_FLUSH_INPUTS, NO_FLUSH_OUTPUTS, ZERO_COPY, NO_CONTEXT = 0x4000, 0x8000, 0x10000, 0x20000

MEM = struct.Struct("@PQiiIIP")
MEM_SIZE = struct.Struct("@IIQII10I")
ATTR = struct.Struct("@II16I256sIIiiibifIIBI")
ATTR_NAME = 72
CONTEXT = struct.Struct("@I" if ctypes.sizeof(ctypes.c_void_p) == 4 else "@Q")
FD_PHYS = 0xFFFFFFFFFFFFFFFF  # what the full runtime stores as address of any descriptor
POISON = b"\xdb"


class Crash(BaseException):
    """Where the real process dies (SIGSEGV, SIGBUS) or would go on with corrupt memory."""


# What differs between runtimes, measured on librknnrt of each: `container` is the newest version
# of files that it takes and `refuses` what init returns for others; `info` that
# COLLECT_MODEL_INFO_ONLY allocates nothing of the model; `splits` that it knows
# INTERNAL_ALLOC_OUTSIDE (older ones take no notice, and make buffers for inputs and outputs
# themselves in init); `stride` whether the size with stride of an output is that of the chip's
# layout; `later` the calls that came with it; `relists` that the shapes of a quantised input are
# other ones, NCHW, once it was attached as uint8.
class Release:
    def __init__(self, container, refuses, info, splits, stride, later, relists=False):
        self.container = container
        self.refuses = refuses
        self.info = info
        self.splits = splits
        self.stride = stride
        self.later = later
        self.relists = relists


RELEASES = {
    "1.4.0": Release(2, FAIL, False, False, False, ()),
    "1.5.0": Release(4, MODEL_INVALID, True, False, True, ()),
    "1.5.2": Release(6, MODEL_INVALID, True, True, True, ("rknn_set_input_shapes",), True),
    "1.6.0": Release(
        6, MODEL_INVALID, True, True, True, ("rknn_set_input_shapes", "rknn_mem_sync")
    ),
}
# read in its header, run nowhere: what is not said there is taken to be as before
RELEASES["2.3.2"] = Release(
    6, MODEL_INVALID, True, True, True, RELEASES["1.6.0"].later + ("rknn_create_mem2",)
)


# What differs between chips: the SoC that a model must name, the mini runtime (RV1103, RV1106),
# SRAM that the driver reports, the masks of cores that it takes (of chips with one core: read).
class Profile:
    def __init__(self, soc, mini=False, sram=0, masks=()):
        self.soc = soc
        self.mini = mini
        self.sram = sram
        self.masks = masks


_THREE = (0, 1, 2, 4, 3, 7)


PROFILES = {
    "rk3588": Profile("rk3588", masks=_THREE),
    "rk3588-sram": Profile("rk3588", sram=978944, masks=_THREE),
    "rk3566": Profile("rk3566"),
    "rk3568": Profile("rk3568"),
    "rk3562": Profile("rk3562"),
    "rv1103": Profile("rv1103", mini=True),
    "rv1106": Profile("rv1106", mini=True),
}


# A context. `own` are the pieces the runtime took for it, `mems` the live tensor_mems made with
# it, `io` those attached by (is output, index), `told` the type of each. `master` is the context
# whose weights it uses (dup or shared weights). Of a model for several shapes: `place` of those
# that it has, None before the first rknn_set_input_shapes; `relisted` inputs and `retaken` (input,
# place) whose shapes are the other ones, of all duplicates. `pinned`: a duplicate of it failed,
# and never lets go of the piece that they share. `cores`: its mask, None before one was set;
# `file`: the block that it reads the model from.
class Context:
    def __init__(self, number, flag):
        self.number = number
        self.flag = flag
        self.spec = None
        self.own = []
        self.mems = []
        self.io = {}
        self.told = {}
        self.place = None
        self.relisted, self.retaken = set(), set()
        self.dma = 0
        self.internal = None
        self.weighed = False
        self.overrun = False
        self.failed = False
        self.starved = False
        self.pinned = False
        self.alive = True
        self.master = None
        self.dups = []
        self.buffer = None
        self.cores = None
        self.file = None


# An rknn_tensor_mem. `block` is the memory behind it (None: a bad descriptor or an unknown
# address), `device` what the NPU sees of it where nobody flushes but mem_sync.
class Mem:
    def __init__(self, context, block, fields, own):
        virt, phys, fd, offset, size = fields
        self.context = context
        self.block = block
        self.offset = offset
        self.size = size
        self.own = own
        self.weights = False
        self.device = None
        self.alive = True
        self.struct = ctypes.create_string_buffer(
            MEM.pack(virt, phys, fd, offset, size, 1, virt if own else 0), MEM.size
        )
        self.address = ctypes.addressof(self.struct)

    @property
    def priv(self):
        """By that address the full runtime looks for what a destroy takes along; a caller can
        write it."""
        return MEM.unpack(self.struct.raw)[-1]

    @property
    def astray(self):
        """True when it is not inside a block that is still there."""
        block = self.block
        gone = not self.alive or block is None or block.freed
        return gone or self.offset + self.size > block.taken

    def fits(self, nbytes):
        """True when the block is there, page-aligned and long enough for `nbytes`."""
        block = self.block
        if not self.alive or block is None or block.freed or self.offset < 0 or self.offset % PAGE:
            return False
        return self.size >= nbytes and self.offset + nbytes <= block.taken
