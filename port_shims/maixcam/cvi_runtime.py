# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How the vendors' runtimes take memory for a model, block by block.

It trusts the file, as the real ones do: what is wrong in it is a crash, not an error.
"""

import os
import struct

import maixcam_board as board
from maix import err

_SIZES = (4, 4, 4, 2, 2, 2, 1, 1)  # FP32 INT32 UINT32 BF16 INT16 UINT16 INT8 UINT8
_NEURON, _IO = (
    2,
    3,
)  # memory kinds in bits 40-42 of a tensor's offset: below _IO they are parts of other blocks


class Loaded:
    """What one model holds: [(ledger, block)] in the order taken, and its (name, dtype, shape)
    tensors."""

    def __init__(self):
        self.blocks = []
        self.inputs = []
        self.outputs = []

    def take(self, ledger, n, what):
        if not n:
            return
        block = ledger.alloc(n, what)
        if block is None:
            raise err.Exception(
                err.Err.ERR_NO_MEM, "alloc memory for %s failed, size:%d" % (what, n)
            )
        self.blocks.append((ledger, block))


class _SharedBlock:
    """One block that activations of several models use in turn: counted, freed with its last
    user."""

    def __init__(self, n):
        self.bytes = n
        self.users = 0
        self._blocks = board.shared
        self._ledger = board.cmm
        self.block = board.cmm.alloc(n, "SharedMemory")
        if self.block is None:
            raise err.Exception(err.Err.ERR_NO_MEM, "failed to alloc shared gmem: %d" % n)

    def free(self, _):
        self.users -= 1
        if not self.users:
            self._blocks.remove(self)
            self._ledger.free(self.block)


def release(blocks):
    """Gives back what a Loaded holds, last taken first."""
    while blocks:
        ledger, block = blocks.pop()
        ledger.free(block)


def load(path, dual):
    """A .cvimodel into the carve-out."""
    with open(path, "rb") as f:
        data = f.read()
    try:
        model = _Model(data)
    except (struct.error, IndexError, UnicodeDecodeError) as e:
        raise board.DeviceCrash("the runtime walked off the model: %r" % e) from e
    if model.chip != board.tpu:
        text = "cvimodel built for %s CANNOT run on platform %s" % (model.chip, board.tpu)
        raise err.Exception(err.Err.ERR_RUNTIME, text)
    return _all_or_nothing(_fill_cvi, model, dual)


def load_ax(path, dual):
    """An .axmodel: the file passes through the heap; board.axmodels[base name] = (carve-out bytes,
    bytes of IO)."""
    size = os.path.getsize(path)
    return _all_or_nothing(
        _fill_ax, (size,) + board.axmodels.get(os.path.basename(path), (size, 0)), dual
    )


def _all_or_nothing(fill, model, dual):
    loaded = Loaded()
    try:
        fill(loaded, model, dual)
    except BaseException:
        release(loaded.blocks)
        raise
    return loaded


def _fill_ax(loaded, model, dual):
    size, cmm, io = model
    copy = Loaded()
    try:
        copy.take(board.heap, size, "model file")
        loaded.take(board.cmm, cmm, "model")
    finally:
        release(copy.blocks)
    for turn in range(2 if dual else 1):
        loaded.take(board.cmm, io, "dual buff" if turn else "io")


def _fill_cvi(loaded, model, dual):
    for kind, size in model.sections:
        loaded.take(board.cmm, size, kind)
    most = max([p["shared"] for p in model.programs] + [0])
    for p in model.programs:
        if p["shared"]:
            block = _shared(most)
            block.users += 1
            loaded.blocks.append((block, None))
        loaded.take(board.cmm, p["neuron"], "neuron")
        loaded.take(board.cmm, p["private"], "private gmem")
        for turn in range(2 if dual else 1):
            for name, size in p["io"]:
                loaded.take(board.cmm, size, "dual buff " + name if turn else "io " + name)
        loaded.inputs += p["inputs"]
        loaded.outputs += p["outputs"]


def _shared(n):
    """The first block that is large enough, the largest first; else a new one, beside the
    smaller."""
    for block in board.shared:
        if block.bytes >= n:
            return block
    board.shared.insert(0, _SharedBlock(n))
    return board.shared[0]


class _Model:
    """The parts of the file that the runtime loads."""

    def __init__(self, data):
        body, major, minor = struct.unpack_from("<8xIBB", data)
        old = (major, minor) == (1, 0)
        self._data = data[32 if old else 48 :]
        self.chip = "cv183x" if old else data[30:46].rstrip(b"\0").decode()
        root = self._deref(0)
        self.sections = [self._section(at) for at in self._tables(root, 7)]
        self.programs = [self._program(at) for at in self._tables(root, 6)]

    def _section(self, at):
        kinds = ("weight", "cmdbuf", "func_x86", "func_aarch64", "dmabuf")
        return kinds[self._scalar(at, 0, "B")], self._scalar(at, 2, "I")

    def _program(self, at):
        tensors = dict(self._tensor(t) for t in self._tables(at, 4))
        io = [(name, size) for name, (size, kind, _, _) in tensors.items() if kind >= _IO]
        ends = [
            [(n, tensors[n][2], tensors[n][3]) for n in map(self._text, self._vector(at, slot))]
            for slot in (2, 3)
        ]
        names = ("neuron", 1), ("shared", 6), ("private", 7)
        sizes = {name: self._scalar(at, slot, "I") for name, slot in names}
        return dict(sizes, io=io, inputs=ends[0], outputs=ends[1])

    def _tensor(self, at):
        offset = self._scalar(at, 2, "q")
        dtype = self._scalar(at, 3, "B")
        shape = self._int64s(self._field(self._deref(self._field(at, 4)), 0))
        size = _SIZES[dtype]
        for n in shape:
            size *= n
        kind = _NEURON if offset == -1 else offset >> 40 & 7
        return self._text(self._field(at, 1)), (size, kind, dtype, shape)

    # a FlatBuffer, without a question asked

    def _get(self, kind, at):
        return struct.unpack_from("<" + kind, self._data, at)[0]

    def _deref(self, at):
        return at + self._get("I", at)

    def _field(self, table, slot):
        entry = table - self._get("i", table)
        shift = self._get("H", entry + 4 + 2 * slot) if 4 + 2 * slot < self._get("H", entry) else 0
        return table + shift if shift else 0

    def _scalar(self, table, slot, kind):
        at = self._field(table, slot)
        return self._get(kind, at) if at else 0

    def _vector(self, table, slot):
        at = self._deref(self._field(table, slot))
        return [at + 4 + 4 * i for i in range(self._get("I", at))]

    def _tables(self, table, slot):
        return [self._deref(field) for field in self._vector(table, slot)]

    def _int64s(self, field):
        at = self._deref(field)
        return struct.unpack_from("<%dq" % self._get("I", at), self._data, at + 4)

    def _text(self, field):
        at = self._deref(field)
        return self._data[at + 4 : at + 4 + self._get("I", at)].decode()
