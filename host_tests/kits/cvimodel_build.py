# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Builds valid .cvimodel files from a short description, so that tests need no foreign files.

    data = cvimodel([("weight", 4096), ("cmdbuf", 512)], [program(shared=8192, inputs=[("in",
    "INT8", (1, 3, 8, 8))])])

Sizes are bytes. The weights are zeros. A keyword `raw` of a section or tensor sets fields by their
slot number.
"""

from __future__ import annotations

import struct
from typing import Any, Optional

DTYPES = ("FP32", "INT32", "UINT32", "BF16", "INT16", "UINT16", "INT8", "UINT8")
SECTIONS = ("weight", "cmdbuf", "func_x86", "func_aarch64", "dmabuf")
IO = 3  # the first kind of memory that is a block of its own
_KIND = 40

# A field is (struct letter, number), or an object that the file points to: a dict is a table
# {slot: field}, a list a vector of such objects, str a string, Sizes a vector of 64-bit numbers.
Field = Any
Fields = Optional[dict[int, Field]]


class Sizes(tuple):
    """A vector of 64-bit numbers."""


def program(
    neuron: int = 0,
    shared: int = 0,
    private: int = 0,
    *,
    inputs: Any = (),
    outputs: Any = (),
    inner: Any = (),
) -> dict[int, Field]:
    """A program: inputs and outputs [(name, dtype, shape)] get blocks of their own, inner ones
    live in other blocks."""
    ends = list(inputs) + list(outputs)
    tensors = [tensor(*t, kind=IO + i % 5) for i, t in enumerate(ends)] + [
        tensor(*t, kind=0) for t in inner
    ]
    return {
        1: ("I", neuron),
        2: [t[0] for t in inputs],
        3: [t[0] for t in outputs],
        4: tensors,
        5: [],
        6: ("I", shared),
        7: ("I", private),
    }


def tensor(
    name: str, dtype: str, shape: Any, kind: Optional[int] = None, raw: Fields = None
) -> dict[int, Field]:
    """A tensor; kind None is one that is not in the carve-out at all."""
    offset = -1 if kind is None else kind << _KIND
    fields: dict[int, Field] = {
        1: name,
        2: ("q", offset),
        3: ("B", DTYPES.index(dtype)),
        4: {0: Sizes(shape)},
    }
    return {**fields, **(raw or {})}


def section(kind: str, size: int, offset: int, raw: Fields = None) -> dict[int, Field]:
    """A section of the file behind the FlatBuffer."""
    fields: dict[int, Field] = {
        0: ("B", SECTIONS.index(kind)),
        1: kind,
        2: ("I", size),
        3: ("I", offset),
    }
    return {**fields, **(raw or {})}


def cvimodel(
    sections: Any,
    programs: Any,
    chip: str = "cv181x",
    version: tuple[int, int] = (1, 4),
) -> bytes:
    """The bytes of a file; sections are (kind, size) or (kind, size, raw), programs come from
    program()."""
    tables, at = [], 0
    for kind, size, *raw in sections:
        tables.append(section(kind, size, at, *raw))
        at += size
    body = flatbuffer({1: "model", 6: list(programs), 7: tables, 8: chip})
    head = b"CviModel" + struct.pack("<IBB", len(body), *version) + bytes(16)
    head += bytes(2) if version == (1, 0) else chip.encode().ljust(16, b"\0") + bytes(2)
    return head + body + bytes(at)


def flatbuffer(root: dict[int, Field]) -> bytes:
    """The tree as a FlatBuffer, parents before children; what one level uses twice is written
    once."""
    out = bytearray(4)
    waiting: list[tuple[int, Field]] = [(0, root)]
    level: list[tuple[int, Field]]
    while waiting:
        written: dict[int, int] = {}
        waiting, level = [], waiting
        for at, thing in level:
            if id(thing) not in written:
                written[id(thing)], more = _write(out, thing)
                waiting += more
            struct.pack_into("<I", out, at, written[id(thing)] - at)
    return bytes(out)


def _pad(out: bytearray, width: int) -> None:
    out.extend(bytes(-len(out) % width))


def _write(out: bytearray, thing: Field) -> tuple[int, list[tuple[int, Field]]]:
    """(where it begins, what it points to and from where)."""
    if isinstance(thing, dict):
        return _write_table(out, thing)
    _pad(out, 8)
    if isinstance(thing, Sizes):
        out.extend(bytes(4))
    start = len(out)
    out.extend(struct.pack("<I", len(thing)))
    if isinstance(thing, str):
        out.extend(thing.encode() + b"\0")
        return start, []
    if isinstance(thing, Sizes):
        out.extend(struct.pack("<%dq" % len(thing), *thing))
        return start, []
    out.extend(bytes(4 * len(thing)))
    return start, [(start + 4 + 4 * i, child) for i, child in enumerate(thing)]


def _write_table(out: bytearray, fields: dict[int, Field]) -> tuple[int, list[tuple[int, Field]]]:
    slots = max(fields, default=-1) + 1
    places = [0] * slots
    row, more = bytearray(4), []
    for slot in sorted(fields):
        value = fields[slot]
        letter, number = (
            value if isinstance(value, tuple) and not isinstance(value, Sizes) else ("I", 0)
        )
        _pad(row, struct.calcsize(letter))
        places[slot] = len(row)
        if isinstance(value, Sizes) or not isinstance(value, tuple):
            more.append((len(row), value))
        row.extend(struct.pack("<" + letter, number))
    _pad(out, 2)
    vtable = len(out)
    out.extend(struct.pack("<%dH" % (2 + slots), 4 + 2 * slots, len(row), *places))
    _pad(out, 8)
    start = len(out)
    struct.pack_into("<i", row, 0, start - vtable)
    out.extend(row)
    return start, [(start + at, child) for at, child in more]
