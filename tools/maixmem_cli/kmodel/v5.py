# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""V5 models (nncase 1.x): no MaixPy loads them, so only a desk reads past their first word.

Two layouts have the same version number: "v5a" (nncase master of 2021, modules without functions)
and "v5b" (1.0.0-beta1 and later). Layouts: the sources of nncase.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from maixmem_kmodel import File, KModel, bad, identify, limit
from maixmem_kmodel_mem import with_file

_TYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bf16")
_DATA = 3  # the memory pool that a runtime allocates
_MOST = 4096  # modules, functions, pools, tensors: far above what a compiler writes
_RANK = 8

Room = tuple[int, int]  #: from, to


# Adds to a KModel: layers (functions of a v5b, modules of a v5a), main_mem (the data pools
# together), nbytes, inputs, outputs. need("sdk") is a bound: the runtime's own objects were
# measured to take less than 4096 + 1024 for each function or module.
class V5Model(KModel):
    """A V5 model, as the Kendryte SDK would load it."""

    layers: int
    main_mem: int
    kpu_span: int

    def allocations(
        self, method: str, file_buffer: int = 0, state: int = 192
    ) -> list[tuple[int, int]]:
        if method != "sdk":
            return super().allocations(method, file_buffer, state)
        whole = (self.nbytes if self.size is None else self.size) or 0
        return [(whole, 0), (self.main_mem, 0), (4096 + 1024 * self.layers, 0)]

    def unsupported_reason(
        self, firmware: dict[str, Any], method: str = "load_addr"
    ) -> str | None:
        return None if method == "sdk" else super().unsupported_reason(firmware, method)


@dataclass(frozen=True)
class _Layout:
    """Where a dialect has what, in words from the start of a header; sizes in bytes."""

    head: int
    modules: int
    entry: int
    module_head: int
    size: int
    size_adds: int  # what the size field leaves out
    pools: int
    kpu: int  # the pool in KPU RAM


_LAYOUTS = {
    "v5a": _Layout(24, 4, 5, 40, 4, 40, 5, 4),
    "v5b": _Layout(32, 5, 6, 48, 6, 0, 7, 64),
}


def read_v5(source: Any) -> KModel:
    """The model, with its tensors if it is a V5; any other format as read_info gives it."""
    return with_file(source, _read_file)


def _read_file(f: File) -> KModel:
    plain = identify(f)
    if plain.format not in _LAYOUTS:
        return plain
    model = V5Model(plain.format, plain.swapped, plain.size)
    _read(model, f, _LAYOUTS[plain.format])
    return model


def _read(model: V5Model, f: File, at: _Layout) -> None:
    head = f.words(0, at.head // 4, "header")
    modules, entry = head[at.modules], head[at.entry]
    entry_function = head[7] if at.head == 32 else 0
    limit(4 * at.modules, "modules", modules, 1, _MOST)
    limit(4 * at.entry, "entry module", entry, 0, modules - 1)
    model.main_mem = model.layers = model.kpu_span = 0
    offset = at.head
    for i in range(modules):
        words = f.words(offset, at.module_head // 4, "module")
        size = words[at.size] + at.size_adds
        end = offset + size
        limit(offset + 4 * at.pools, "mempools", words[at.pools], 0, _MOST)
        body = offset + at.module_head + 8 * words[at.pools]
        limit(offset + 4 * at.size, "module size", end, body, f.size + 7)
        _pools(model, f, offset + at.module_head, words[at.pools], at.kpu)
        if at.head == 32:
            first = body + 8 * words[8]
            _functions(model, f, (first, end), words[10], entry_function if i == entry else None)
        else:
            model.layers += 1
            if i == entry:
                tensors = _tensors(f, body, words[6], end)
                model.inputs = [t for t, _ in tensors]
                body = tensors[-1][1] if tensors else body
                model.outputs = [t for t, _ in _tensors(f, body, words[7], end)]
        offset = end
    model.nbytes = offset


def _pools(model: V5Model, f: File, offset: int, n: int, kpu: int) -> None:
    for i in range(n):
        place, size = f.words(offset + 8 * i, 2, "memory pool")
        place &= 255
        if place == _DATA:
            model.main_mem += size
        elif place == kpu:
            model.kpu_span = max(model.kpu_span, size)


def _functions(model: V5Model, f: File, room: Room, n: int, entry: int | None) -> None:
    offset, end = room
    limit(offset, "functions", n, 0, _MOST)
    if entry is not None:
        limit(28, "entry function", entry, 0, n - 1)
    for i in range(n):
        words = f.words(offset, 8, "function")
        size, inputs, outputs = words[1], words[4], words[5]
        limit(offset + 4, "function size", size, 32, end - offset)
        if i == entry:
            ins = _tensors(f, offset + 32, inputs, offset + size)
            outs = _tensors(f, ins[-1][1] if ins else offset + 32, outputs, offset + size)
            model.inputs, model.outputs = [t for t, _ in ins], [t for t, _ in outs]
        offset += size
    model.layers += n


def _tensors(f: File, offset: int, n: int, end: int) -> list[tuple[tuple[Any, str, int], int]]:
    """[(tensor, where its shape ends)]: n memory ranges, then n shapes."""
    limit(offset, "tensors", 16 * n, 0, end - offset)
    kinds = list(_ranges(f, offset, n))
    offset += 12 * n
    tensors = []
    for kind, size in kinds:
        (rank,) = f.words(offset, 1, "rank")
        limit(offset, "rank", rank, 0, _RANK)
        limit(offset, "shape end", offset + 4 + 4 * rank, 0, end)
        shape = f.words(offset + 4, rank, "shape")
        offset += 4 + 4 * rank
        tensors.append(((shape, kind, size), offset))
    return tensors


def _ranges(f: File, offset: int, n: int) -> Iterator[tuple[str, int]]:
    for i in range(n):
        head, _, size = f.words(offset + 12 * i, 3, "memory range")
        kind = head >> 8 & 255
        if kind >= len(_TYPES):
            bad(offset + 12 * i + 1, "datatype", kind, f"must be below {len(_TYPES)}")
        yield _TYPES[kind], size
