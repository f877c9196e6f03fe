# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The memory, contexts and models of an Ascend 310 behind the stand-in for `acl`.

import ascend_board as board
board.reset(normal=64 << 20)
board.add_model("a.om", work=1 << 20, weight=2 << 20)
import acl
"""

import os
import sys
import threading

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from faults import Faults

MIB = 1 << 20
PAGE = 2 * MIB
ALIGN = {"device": 64, "host": 64, "dvpp": 128, "python": 1}

# Codes of acl_base.h that the stand-in returns.
OK = 0
INVALID_PARAM = 100000
UNINITIALIZE = 100001
REPEAT_INIT = 100002
RT_PARAM_INVALID = 107000
INVALID_DEVICEID = 107001
CONTEXT_NULL = 107002
MODEL_CONTEXT = 107004
ADDR_UNALIGNED = 107008
INVALID_MALLOC_TYPE = 107018
GE_PARAM = 145000
GE_MODEL_PATH = 145002
GE_MODEL_ID = 145003
NOT_SUPPORTED = 207000
OUT_OF_MEMORY = 207001
FREE_FAILED = 207002
INTERNAL_GE = 500002
DRV_INTERNAL = 507899


class MemoryCorruption(BaseException):
    """Two users would have written the same device memory at the same time."""


# Contract.  One allocation: `start` address, `asked` bytes, `taken` bytes of its pages' free
# memory, `kind` the call
# that must free it.  `users` are the ids of models that hold it, `work` whether it ever was work
# memory.  The bytes themselves are made when first touched.
class Block:
    def __init__(self, start, asked, taken, kind, pages):
        self.start = start
        self.asked = asked
        self.taken = taken
        self.kind = kind
        self.pages = pages
        self.users = set()
        self.work = False
        self._data = None

    def data(self):
        if self._data is None:
            self._data = bytearray(self.asked)
        return self._data


class Om:
    """A model file: bytes of work and weights, sizes of its inputs and outputs."""

    def __init__(self, work, weight, inputs, outputs):
        self.work, self.weight, self.inputs, self.outputs = work, weight, inputs, outputs


class Loaded:
    """A loaded model: its file, context, and (start, size) of its work memory."""

    def __init__(self, om, context, work, own):
        self.om, self.context, self.work, self.own = om, context, work, own


faults = Faults()
models = {}
blocks = {}
loaded = {}
contexts = set()
pages = {}
late = {}
busy = {}
running = None
initialised = False
rc = False
toolkit = (5, 0)
memory = "ddr"
OTHER_DDR = 4096 * MIB  # of a card that has both
_next = {"address": 0, "id": 0}
_thread = threading.local()
_lock = threading.RLock()


def reset(normal=6144 * MIB, huge=1940 * MIB, on_device=False, version=(5, 0), has="ddr"):
    """Power-on.  `normal` and `huge` are bytes of the two kinds of pages of the memory that
    rt.malloc takes from: the HBM of a card that `has` "hbm" or "both", else its DDR. on_device:
    the program runs on the board (RC)."""
    global rc, toolkit, running, initialised, memory, _thread
    rc, toolkit, running, initialised = on_device, version, None, False
    memory = has
    _thread = threading.local()
    for table in (models, blocks, loaded, contexts, pages, late, busy):
        table.clear()
    pages.update(normal=normal, huge=huge, all_normal=normal, all_huge=huge)
    _next.update(address=0x10000000, id=100)
    faults.clear()


def add_model(path, work, weight, inputs=(64,), outputs=(64,)):
    """Puts a model file on the board."""
    models[path] = Om(work, weight, tuple(inputs), tuple(outputs))


def live(kind=None):
    """Bytes that the program has taken, by rt.malloc ("device"), malloc_host ("host"), dvpp_malloc
    ("dvpp") or all."""
    return sum(
        b.taken for b in blocks.values() if b.kind == kind or (kind is None and b.kind != "python")
    )


# --- contexts: one current context a thread ---


def new_id():
    _next["id"] += 1
    return _next["id"]


def context():
    """The thread's context, or None."""
    current = getattr(_thread, "context", None)
    return current if current in contexts else None


def set_context(number):
    _thread.context = number


def begin(name):
    """The code with which a call fails before it does anything, or 0: an armed fault, or no
    acl.init() before."""
    code = faults.point(name)
    if code is not None:
        return code
    return OK if initialised else UNINITIALIZE


def gate(name):
    """As begin(), for calls that want a context too."""
    return begin(name) or (OK if context() is not None else CONTEXT_NULL)


# --- memory ---


def aligned(n):
    """What the runtime asks its driver for: rounded up to 32 and 32 more
    (GetAlignedAndPaddingSize of CANN's src/acl/aclrt_impl/memory.cpp)."""
    return (n + 32 + 32 - 1) // 32 * 32


def sources(n, policy):
    """The kinds of pages that a request is tried in, in order; None for a policy that there is
    not (DevMemAllocOnline of CANN's src/runtime/driver/npu_driver_mem.cc)."""
    if policy == 0:  # huge pages first, beyond 1 MiB
        return ("huge", "normal") if aligned(n) > MIB else ("normal",)
    return {1: ("huge",), 2: ("normal",)}.get(policy)


def taken_bytes(n, name):
    """What a request takes of pages of that name: huge ones are of 2 MiB each."""
    n = aligned(n)
    return (n + PAGE - 1) // PAGE * PAGE if name == "huge" else n


def allocate(n, kind, source):
    """A new block from the pages named in `source`, the first that have room; None when none
    has."""
    with _lock:
        for name in source:
            taken = taken_bytes(n, name)
            if pages[name] >= taken:
                pages[name] -= taken
                return _place(n, taken, kind, name)
    return None


def _place(n, taken, kind, name):
    align = PAGE if kind == "dvpp" else ALIGN[kind]
    start = (_next["address"] + align - 1) // align * align
    if kind == "python" or (kind == "host" and rc):
        start += 16  # nobody promised more
    _next["address"] = start + taken + 4096
    blocks[start] = Block(start, n, taken, kind, name)
    return blocks[start]


def free(start, kind):
    """Frees a block by the start that its own call gave; the code says why not."""
    block = blocks.get(start)
    if block is None:
        return RT_PARAM_INVALID
    if block.kind != kind:
        return INVALID_MALLOC_TYPE
    if block.users:
        return FREE_FAILED
    with _lock:
        del blocks[start]
        if block.pages:
            pages[block.pages] += block.taken
    return OK


def block_at(start, n):
    """The block that holds n bytes from an address, or None."""
    for block in blocks.values():
        if block.start <= start and start + n <= block.start + block.asked:
            return block
    return None


def python_bytes(data):
    """The address of a Python bytes object."""
    block = _place(len(data), len(data), "python", None)
    block.data()[:] = data
    return block.start


def is_host(block):
    return block.kind in ("host", "python")


def copy(dst, src, n):
    """Moves n bytes between two addresses; False when one is not memory of ours."""
    to, here = block_at(dst, n), block_at(src, n)
    if to is None or here is None:
        return False
    to.data()[dst - to.start : dst - to.start + n] = here.data()[
        src - here.start : src - here.start + n
    ]
    return True


# --- running models: what is busy with which work memory ---


def claim(number, stream):
    """Marks the work memory of a model as in use by a stream (0: until it returns)."""
    first, size = loaded[number].work
    for other, (start, n, where) in busy.items():
        if other != number and where != stream and start < first + size and first < start + n:
            raise MemoryCorruption(
                "models %d and %d compute in the same work memory at the same time"
                % (other, number)
            )
    busy[number] = (first, size, stream)


def settle(stream):
    """The work of a stream is done."""
    for number in [k for k, (_, _, where) in busy.items() if where == stream]:
        del busy[number]


reset()
