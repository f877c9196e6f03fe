# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Reads how much of the carve-out a .cvimodel (MaixCAM, cv181x) will use, from its header and its
FlatBuffer.

m = read_cvimodel("/root/models/yolo.cvimodel")
m.need(), m.shared, m.io, m.chip
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from maixmem import KModelError
from maixmem_text import tell

_MAGIC = b"CviModel"
_HEADER = 48
_HEADER_1_0 = 32
_DTYPE_SIZE = (4, 4, 4, 2, 2, 2, 1, 1)  # FP32 INT32 UINT32 BF16 INT16 UINT16 INT8 UINT8
# a tensor's offset holds the kind of its memory in bits 40 to 42; kinds above 2 are blocks of IO
_KIND = 40
_COMMANDS = 1  # the type of a section of command buffers

# Field slots of the schema (cvibuilder, cvimodel.fbs).
_MODEL_PROGRAMS = 6
_MODEL_SECTIONS = 7
_SECTION_TYPE = 0
_SECTION_SIZE = 2
_SECTION_OFFSET = 3
_SECTION_COMPRESS = 5
_SECTION_UNPACKED = 6
_PROGRAM_NEURON = 1
_PROGRAM_TENSORS = 4
_PROGRAM_SHARED = 6
_PROGRAM_PRIVATE = 7
_TENSOR_OFFSET = 2
_TENSOR_DTYPE = 3
_TENSOR_SHAPE = 4
_TENSOR_ALIGNED = 11
_TENSOR_SIZE = 12


# Owns nothing but numbers, all in bytes. `fixed`: sections, neuron memory and private memory, the
# model's own; `shared`: activations, which the runtime keeps in one block for all models that are
# loaded; `io`: one set of input and output buffers; `transient`: the most that unpacking holds
# besides; `nbytes`: the file as its sections say, `have` as it is; `exact` is False when the file
# leaves a size to the runtime. `commands` of `fixed` are command buffers, which on a board the
# kernel's driver takes: without them the sum equals, to the byte, what the vendor's runtime
# allocates on its chip model for eight models.
class CviModel:
    """The sizes in one .cvimodel."""

    def __init__(self, version: tuple[int, int], chip: str, have: int) -> None:
        self.version = version
        self.chip = chip
        self.have = have
        self.nbytes = 0
        self.fixed = 0
        self.commands = 0
        self.shared = 0
        self.io = 0
        self.transient = 0
        self.exact = True

    def need(self, dual_buff: bool = False) -> int:
        """Bytes of the carve-out for this model alone; dual_buff takes a second set of IO
        buffers."""
        return self.fixed + self.shared + self.io * (2 if dual_buff else 1)


def read_cvimodel(source: Any) -> CviModel:
    """The CviModel of a path or of bytes. Reads the header and the FlatBuffer, not the weights.

    KModelError for what is no such file, OSError as open() says. Work and memory are linear in the
    FlatBuffer.
    """
    if isinstance(source, str):
        with open(source, "rb") as f:
            have = f.seek(0, 2)
            f.seek(0)
            return _read(have, f.read)
    view = memoryview(source)
    return _read(len(view), _Cursor(view).read)


class _Cursor:
    """read(n) over bytes, as a file has it."""

    def __init__(self, view: memoryview) -> None:
        self._view = view
        self._at = 0

    def read(self, n: int) -> bytes:
        """The next n bytes, fewer at the end."""
        part = bytes(self._view[self._at : self._at + n])
        self._at += len(part)
        return part


def _read(have: int, read: Callable[[int], bytes]) -> CviModel:
    head = read(_HEADER_1_0)
    if len(head) < _HEADER_1_0:
        _wrong(0, "header", "{} bytes".format(len(head)), "a header has 32 bytes or more")
    if head[:8] != _MAGIC:
        _wrong(0, "magic", head[:8], "{!r} begins the file".format(_MAGIC))
    nbody, major, minor = struct.unpack("<IBB", head[8:14])
    header, chip = _HEADER_1_0, "cv183x"  # the first version had no name of a chip, there was one
    if (major, minor) != (1, 0):
        header = _HEADER
        head += read(_HEADER - _HEADER_1_0)
        chip = _chip(head)
    if header + nbody > have:
        _wrong(
            8,
            "body_size",
            nbody,
            "header {} + body fit into the {} bytes of the file".format(header, have),
        )
    model = CviModel((major, minor), chip, have)
    model.nbytes = header + nbody
    _walk(model, _Flat(read(nbody), header))
    return model


def _chip(head: bytes) -> str:
    name = bytes(head[30:46]).split(b"\0")[0]
    for c in name:
        if c < 33 or c > 126:
            _wrong(30, "chip", name, "a name in ASCII")
    return name.decode()


def _walk(model: CviModel, flat: _Flat) -> None:
    root = flat.table(flat.deref(0, "root"), "root")
    end = model.nbytes
    for at in flat.tables(root, _MODEL_SECTIONS, "sections"):
        size = flat.u32(at, _SECTION_SIZE, "section.size")
        model.nbytes = max(
            model.nbytes, end + flat.u32(at, _SECTION_OFFSET, "section.offset") + size
        )
        unpacked = flat.u32(at, _SECTION_UNPACKED, "section.decompressed_size")
        if unpacked and flat.u8(at, _SECTION_COMPRESS, "section.compress"):
            model.transient = max(model.transient, size)
            size = unpacked
        model.fixed += size
        if flat.u8(at, _SECTION_TYPE, "section.type") == _COMMANDS:
            model.commands += size
    for at in flat.tables(root, _MODEL_PROGRAMS, "programs"):
        model.fixed += flat.u32(at, _PROGRAM_NEURON, "program.neuron_size")
        model.fixed += flat.u32(at, _PROGRAM_PRIVATE, "program.private_gmem")
        model.shared = max(model.shared, flat.u32(at, _PROGRAM_SHARED, "program.shared_gmem"))
        for tensor in flat.tables(at, _PROGRAM_TENSORS, "program.tensor_map"):
            model.io += _io_bytes(model, flat, tensor)


def _io_bytes(model: CviModel, flat: _Flat, at: int) -> int:
    offset = flat.i64(at, _TENSOR_OFFSET, "tensor.offset")
    if offset == -1 or (offset >> _KIND) & 7 <= 2:
        return 0  # lives inside one of the other blocks
    dtype = flat.u8(at, _TENSOR_DTYPE, "tensor.dtype")
    if dtype >= len(_DTYPE_SIZE):
        _wrong(flat.base + at, "tensor.dtype", dtype, "0 to {}".format(len(_DTYPE_SIZE) - 1))
    if flat.u8(at, _TENSOR_ALIGNED, "tensor.aligned"):
        size = flat.u32(at, _TENSOR_SIZE, "tensor.size")
        if size:
            return size
        model.exact = False  # rows are padded by a rule of the chip
    size = _DTYPE_SIZE[dtype]
    for n in flat.shape(at, _TENSOR_SHAPE):
        size *= n
    return size


# Views the bytes of one FlatBuffer; `base` is where it begins in the file. Every access is checked
# against the bytes there are, and no more tables are followed than could stand side by side in
# them, so that offsets that cross or repeat cost no more than an honest file.
class _Flat:
    """A FlatBuffer that is not trusted."""

    def __init__(self, data: bytes, base: int) -> None:
        self.data = data
        self.base = base
        self._left = len(data) // 4

    def _get(self, kind: str, at: int, name: str) -> int:
        if at < 0 or at + struct.calcsize(kind) > len(self.data):
            _wrong(
                self.base + at,
                name,
                at,
                "an offset in the {} bytes of the body".format(len(self.data)),
            )
        return int(struct.unpack_from(kind, self.data, at)[0])

    def deref(self, at: int, name: str) -> int:
        """The position that the offset at `at` points to."""
        return at + self._get("<I", at, name)

    def table(self, at: int, name: str) -> int:
        """`at`, checked to be a table with its list of fields."""
        self._left -= 1
        if self._left < 0:
            _wrong(self.base + at, name, at, "no more tables than the body has room for")
        fields = at - self._get("<i", at, name)
        size = self._get("<H", fields, name + ".fields")
        if size < 4 or size & 1:
            _wrong(self.base + fields, name + ".fields", size, "an even number, 4 or more")
        self._get("<B", fields + size - 1, name + ".fields")
        return at

    def _field(self, at: int, slot: int) -> int | None:
        fields = at - self._get("<i", at, "table")
        if 4 + 2 * slot >= self._get("<H", fields, "fields"):
            return None
        shift = self._get("<H", fields + 4 + 2 * slot, "field")
        return at + shift if shift else None

    def _scalar(self, at: int, slot: int, kind: str, name: str) -> int:
        where = self._field(at, slot)
        return 0 if where is None else self._get(kind, where, name)

    def u8(self, at: int, slot: int, name: str) -> int:
        """A byte of the table at `at`, 0 when the file leaves it out."""
        return self._scalar(at, slot, "<B", name)

    def u32(self, at: int, slot: int, name: str) -> int:
        """An unsigned word of the table at `at`, 0 when the file leaves it out."""
        return self._scalar(at, slot, "<I", name)

    def i64(self, at: int, slot: int, name: str) -> int:
        """A signed double word of the table at `at`, 0 when the file leaves it out."""
        return self._scalar(at, slot, "<q", name)

    def _vector(self, at: int, slot: int, width: int, name: str) -> tuple[int, int]:
        where = self._field(at, slot)
        if where is None:
            _wrong(self.base + at, name, "absent", "a field that every model has")
        first = self.deref(where, name) + 4
        count = self._get("<I", first - 4, name)
        if count * width > len(self.data) - first:
            _wrong(
                self.base + first - 4,
                name,
                count,
                "elements of {} bytes inside the body".format(width),
            )
        return first, count

    def tables(self, at: int, slot: int, name: str) -> Iterator[int]:
        """The tables of a vector, one by one."""
        first, count = self._vector(at, slot, 4, name)
        for i in range(count):
            yield self.table(self.deref(first + 4 * i, name), name)

    def shape(self, at: int, slot: int) -> list[int]:
        """The sizes of a tensor, each 1 or more."""
        where = self._field(at, slot)
        if where is None:
            _wrong(self.base + at, "tensor.shape", "absent", "a field that every tensor has")
        first, count = self._vector(
            self.table(self.deref(where, "tensor.shape"), "tensor.shape"), 0, 8, "shape.dim"
        )
        if count > 8:
            _wrong(self.base + first, "shape.dim", count, "8 sizes at most")
        sizes = []
        for i in range(count):
            n = self._get("<q", first + 8 * i, "shape.dim")
            if n < 1:
                _wrong(
                    self.base + first + 8 * i,
                    "shape.dim",
                    n,
                    "1 or more (a size that varies cannot be planned)",
                )
            sizes.append(n)
        return sizes


def _wrong(at: int, name: str, value: object, rule: str) -> NoReturn:
    text = "cvimodel: at {:#08x} {} = {}: must be {}.\ncopy or convert the model again"
    raise KModelError(tell(text, max(at, 0), name, value, rule))
