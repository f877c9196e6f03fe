# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The headers of models that are no V3, of V4 (nncase 0.2) above all: what maixmem_kmodel imports
for one. A one-time part."""

from maixmem import const
from maixmem_kmodel import File, KModel, limit, walk

_ENTRIES = const(1000)  # 8-byte entries of tables that a reader of 8 KiB can take
_KPU_RAM = const(0x200000)
# Smallest body of each layer type in words: see maixmem_kmodel.KINDS3
KINDS4 = (
    ((0, 21), (0x1001, 5), (0x2001, 2)),
    b"\33\7\10\12\14\26\12\22\32\10\20\13\20\35\11\10\14\42\14\10\10\10\10\10\10\10\14\104",
)


def read(m: KModel, f: File) -> None:
    """Sets what the headers say: of V4 everything, of later versions which dialect it is, of
    others a little."""
    head = f.words(0, 3, "header")
    if m.format == "smodel":
        m.nbytes = head[1] + 8
    elif m.format == "v4":
        _read_ldmk(m, f, head)
    else:
        m.layers = head[2 if m.format == "v1" else 1]


def _read_ldmk(m, f, head):
    limit(4, "version", head[1], 4, 15)
    if head[1] > 4:
        m.format = "v6+" if head[1] > 5 else "v5b" if head[2] else "v5a"
        return
    head = f.words(0, 10, "header")
    m.main_mem, m.layers, inputs, outputs = head[5:9]
    limit(12, "target", head[3], 0, 1)
    limit(28, "inputs", inputs, 1, 99)
    limit(32, "outputs", outputs, 1, 99)
    limit(24, "nodes", m.layers, 1, _ENTRIES - 4 * inputs - 2 * outputs)
    ends = (head[4], m.main_mem, _KPU_RAM)  # constants, main memory, KPU RAM
    m.inputs, m.outputs = [], []
    for i in range(inputs):
        kind, size = _range(f, 40 + 16 * i, "input", ends)
        at = 40 + 16 * (inputs + i)
        shape = f.words(at, 4, "shape")
        for n in shape:
            limit(at, "shape", n, 1, 0x7FFFFFFF)
        m.inputs.append((shape, kind, size))
    at = 40 + 32 * inputs
    for i in range(outputs):
        kind, size = _range(f, at + 16 * i, "output", ends)
        m.outputs.append((None, kind, size))
    at += 16 * outputs + head[4]
    head = ends = None  # their bytes are free while the layers are read
    walk(m, f, at, KINDS4)


def _range(f, at, field, ends):
    """A memory range: (type, bytes)."""
    where, kind, start, size = f.words(at, 4, field)
    limit(at, field + " memory_type", where, 0, 2)
    limit(at + 4, field + " datatype", kind, 0, 1)
    limit(at + 8, field + " end", start + size, 0, ends[where])
    return ("f32", "u8")[kind], size
