# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What `maixmem kmodel` knows of a file: its models, and what each firmware build says to them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from maixmem_k210_cost import chunks, required_free
from maixmem_k210_gc import MIN_GC_HEAP
from maixmem_k210_load import file_buffer
from maixmem_kmodel import KModel, KModelError
from maixmem_report import kib

from maixmem_cli.firmware.builds import Firmware
from maixmem_cli.firmware.known_bad import known_bad
from maixmem_cli.flash.kfpkg import MAX_TOTAL, Member, PackageError, read_package
from maixmem_cli.kmodel import others
from maixmem_cli.kmodel.layers import Layer, limits, read_layers, run_transient
from maixmem_cli.kmodel.v5 import read_v5
from maixmem_cli.plan import not_ours
from maixmem_cli.text.output import printable

#: ways to load, as KModel.allocations() names them
METHODS = ("load_path", "load_addr", "stream_single", "stream_dual", "canmv", "sdk")
_MAIXPY = METHODS[:4]  #: those that a MaixPy build offers
_V4 = "V4: call kpu.set_outputs() before forward(), and load_flash leaks 4352 bytes"
_ZIP = b"PK\x03\x04"


@dataclass
class Verdict:
    """One firmware build's answer: the ways that work after power-on, or why none does."""

    firmware: Firmware
    ways: list[str]
    text: str

    @property
    def good(self) -> bool:
        return bool(self.ways)


@dataclass
class Entry:
    """One model of one file; `model` is None when `error` says what is wrong with it, or when it
    is `other`, for another board."""

    file: str
    model: KModel | None = None
    error: str | None = None
    layers: list[Layer] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    other: others.Other | None = None
    where: str = ""  #: what the other is, and where it runs

    @property
    def finding(self) -> bool:
        """Damaged, or refused by every build in question."""
        return self.error is not None or not any(v.good for v in self.verdicts)

    def warnings(self) -> list[str]:
        """The device's warnings, and what only the bodies show."""
        m = self.model
        if m is None:
            return []
        found = [_V4] if m.format == "v4" else [not_ours.NEWER] if m.format == "v6+" else []
        if m.size and m.nbytes and m.nbytes != m.size:
            more = "more" if m.size > m.nbytes else "fewer"
            found.append(f"the file has {abs(m.size - m.nbytes)} bytes {more} than its layers say")
        found += limits(m, self.layers)
        transient = run_transient(m, self.layers)
        if transient:
            found.append(f"the SDK (not MaixPy) mallocs {transient} bytes more while it runs")
        return found

    def to_json(self) -> dict[str, Any]:
        """The object of --json."""
        m = self.model
        return {
            "file": self.file,
            "format": m and m.format,
            "swapped": m and m.swapped,
            "size": m and m.size,
            "nbytes": m and m.nbytes,
            "layers": m and m.layers,
            "main_mem": m and m.main_mem,
            "largest_body": m and m.largest_body,
            "kpu_span": m and m.kpu_span,
            "inputs": _tensors(m.inputs if m else None),
            "outputs": _tensors(m.outputs if m else None),
            "need": {how: m and m.need(how) for how in METHODS},
            "peak": {how: m and m.peak(how) for how in METHODS},
            "heap_free": {how: m and room(m, how) for how in METHODS},
            "refuse": {v.firmware.name: v.text for v in self.verdicts if not v.good},
            "warnings": self.warnings(),
            "error": self.error,
            "other": self.other and self.other.to_json(),
        }


def _tensors(tensors: Iterable[tuple[Any, Any, Any]] | None) -> list[dict[str, Any]]:
    return [
        {"shape": shape and list(shape), "type": kind, "bytes": n}
        for shape, kind, n in tensors or ()
    ]


def read_entries(path: Path, firmwares: Iterable[Firmware]) -> Iterator[Entry]:
    """The models of a file: one, or those of a package. Never raises for what is in the file."""
    firmwares = list(firmwares)
    pipe = None if path.is_file() else _drain(path)  # what a pipe says can be read once
    if pipe is not None and len(pipe) > MAX_TOTAL:
        yield Entry(str(path), error=f"more than {MAX_TOTAL} bytes come out of it: no model")
        return
    if not (_head(path) if pipe is None else pipe).startswith(_ZIP):
        yield _entry(str(path), str(path) if pipe is None else pipe, firmwares)
        return
    try:
        members = read_package(path if pipe is None else io.BytesIO(pipe))
    except PackageError as e:
        yield Entry(str(path), error=str(e))
        return
    found = [
        _member(f"{path}:{printable(m.name)}@{m.address:#x}", m, firmwares)
        for m in members
        if not m.repeat and not m.sha256_prefix
    ]
    models = [e for e in found if e.model or "model" in e.file.rpartition(":")[2]]
    yield from models or [Entry(str(path), error="no model in the package")]


def _drain(path: Path) -> bytes:
    with path.open("rb") as f:
        return f.read(MAX_TOTAL + 1)


def _head(path: Path) -> bytes:
    with path.open("rb") as f:
        return f.read(len(_ZIP))


def _member(name: str, member: Member, firmwares: list[Firmware]) -> Entry:
    if member.data is None:
        return Entry(name, error=member.error)
    data = member.data
    if member.swapped:  # the flasher turns its words around on the way
        data = b"".join(data[i : i + 4][::-1] for i in range(0, len(data) - 3, 4))
    return _entry(name, data, firmwares)


def _entry(name: str, source: object, firmwares: list[Firmware]) -> Entry:
    try:
        model, layers = read_layers(source)
        if model.format in ("v5a", "v5b"):
            model = read_v5(source)
    except KModelError as e:
        where = not_ours.file_for(name, _first(source))
        why = where or str(e)
        try:
            other = others.read_other(source) if isinstance(source, str) else None
        except KModelError as damage:
            other, why = None, f"{where or 'no kmodel'}. {damage}"
        verdicts = [Verdict(f, [], why) for f in firmwares]
        return Entry(name, None, None if other else why, [], verdicts, other, where)
    return Entry(name, model, None, layers, [_known(judge(model, f)) for f in firmwares])


def _first(source: object) -> bytes:
    """The first bytes of a file by its name, or of bytes."""
    if isinstance(source, str):
        with open(source, "rb") as f:
            return f.read(16)
    return bytes(source[:16]) if isinstance(source, (bytes, bytearray)) else b""


def _known(verdict: Verdict) -> Verdict:
    """With what is known of that very build."""
    bad = known_bad(verdict.firmware.title)
    return replace(verdict, text="; ".join([verdict.text, *bad])) if bad else verdict


def judge(model: KModel, firmware: Firmware) -> Verdict:
    """What works on a build after power-on, with the default GC heap and nothing else loaded."""
    free = firmware.heap
    usual = "stream_single" if model.swapped else "load_addr"
    if free is None:
        ways = [
            how
            for how in _MAIXPY
            if model.unsupported_reason(firmware.capabilities(), how) is None
        ]
        text = f"may run by {', '.join(ways)}: an image does not tell what memory it leaves"
        return Verdict(
            firmware,
            ways,
            text if ways else str(model.unsupported_reason(firmware.capabilities(), usual)),
        )
    ways = [how for how in _MAIXPY if fits(model, how, free, firmware)]
    if ways:
        return Verdict(firmware, ways, "runs by " + ", ".join(ways))
    for how in _MAIXPY:
        if fits(model, how, free + firmware.gc_heap - MIN_GC_HEAP, firmware):
            gc = firmware.gc_heap - ((room(model, how) or 0) - free) & ~4095
            return Verdict(firmware, [how], f"runs by {how} if gc_heap_size() is {gc} or less")
    why = model.unsupported_reason(firmware.capabilities(), usual)
    return Verdict(
        firmware, [], why or f"needs {kib(room(model, usual) or 0)}, {kib(free)} are free"
    )


def room(model: KModel, how: str) -> int | None:
    """What heap_free() must be so that a load surely succeeds: the pages that its peak
    takes."""
    buffer = file_buffer("/flash/") if how == "load_path" else 0
    allocations = model.allocations(how, buffer)
    return required_free(chunks(allocations)) if allocations else None


def fits(model: KModel, how: str, heap: int, firmware: Firmware) -> bool:
    """Does a load by this way surely succeed with so many bytes of system heap?"""
    needed = room(model, how)
    if needed is None or needed > heap:
        return False
    return model.unsupported_reason({**firmware.capabilities(), "ram": heap}, how) is None
