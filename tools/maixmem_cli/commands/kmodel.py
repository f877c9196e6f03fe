# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem kmodel`: what is in a model, what it needs, and which firmware builds run it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from maixmem_report import kib
from rich.console import Console
from rich.markup import escape

from maixmem_cli.commands.options import firmware_option
from maixmem_cli.firmware.builds import FIRMWARES, Firmware, FirmwareError
from maixmem_cli.kmodel.others import Other
from maixmem_cli.plan.kmodel_verdict import METHODS, Entry, read_entries, room
from maixmem_cli.text.numbers import hexa
from maixmem_cli.text.output import console, to_file, unreadable
from maixmem_cli.text.tables import Column, show_table

_WAYS = {
    "load_path": 'kpu.load("/sd/...")',
    "load_addr": "kpu.load(address)",
    "stream_single": "kpu.load_flash, one buffer",
    "stream_dual": "kpu.load_flash, two buffers",
    "canmv": "CanMV load_kmodel",
    "sdk": "SDK kpu_load_kmodel",
}


_MEMORY = (
    Column("way", name=True),
    Column("stays", right=True),
    Column("peak", right=True),
    Column("heap_free() to have, bytes", right=True),
)
_LAYERS = (
    Column("#", right=True),
    Column("layer", name=True),
    Column("offset", right=True),
    Column("size", right=True),
    Column("what"),
)
_VERDICTS = (Column("firmware", name=True), Column("heap", right=True), Column("answer"))


@click.command(name="kmodel", epilog="Example: maixmem kmodel face.kmodel --firmware minimum")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@firmware_option(f"Judge this build only: {', '.join(FIRMWARES)}, an image, or a board.toml.")
@click.option("--json", "as_json", is_flag=True, help="A list with one object for each model.")
@to_file
@click.option("--layers", is_flag=True, help="List the layers too.")
def command(
    files: tuple[Path, ...], firmware: Firmware | None, as_json: bool, layers: bool
) -> None:
    """Say what a model needs and where it runs, from its headers.

    FILE is a .kmodel or a .kfpkg. Exit status 1: a model is damaged, or no build takes it.
    """
    builds = [_measured(firmware)] if firmware else list(FIRMWARES.values())
    entries: list[Entry] = []
    for path in files:
        try:
            entries += read_entries(path, builds)
        except OSError as e:
            raise click.UsageError(unreadable(e, path)) from None
    if as_json:
        click.echo(json.dumps([_object(e, layers) for e in entries], indent=2))
    else:
        out = console()
        for entry in entries:
            _show(out, entry, layers)
    sys.exit(1 if any(e.finding for e in entries) else 0)


def _measured(firmware: Firmware) -> Firmware:
    """With its memory where that can be measured; else the verdicts say that it is not known."""
    try:
        return firmware.measured()
    except FirmwareError:
        return firmware


def _object(entry: Entry, layers: bool) -> dict[str, object]:
    found = entry.to_json()
    if layers:
        found["layer_list"] = [
            {
                "type": x.type,
                "name": x.name,
                "offset": x.offset,
                "size": x.size,
                "detail": x.detail,
            }
            for x in entry.layers
        ]
    return found


def _show(out: Console, entry: Entry, layers: bool) -> None:
    out.print(f"--- {entry.file}", style="bold", markup=False)
    m = entry.model
    if entry.other:
        _other(out, entry.other, entry.where)
        return
    if m is None:
        out.print(f"[red]not usable:[/] {escape(entry.error or '')}\n")
        return
    out.print(_headline(entry), highlight=False)
    if m.need("sdk") is not None:
        _memory(out, entry)
    if layers and entry.layers:
        _layers(out, entry)
    for text in entry.warnings():
        out.print(f"[yellow]![/] {escape(text)}", highlight=False)
    _verdicts(out, entry)
    out.print()


def _other(out: Console, other: Other, where: str) -> None:
    size = f"{kib(other.nbytes)} ({other.nbytes} bytes)"
    out.print(escape(", ".join([*other.facts, size])), highlight=False)
    out.print(escape(other.sentence()), highlight=False)
    if other.refuse:
        out.print(f"[red]not usable:[/] {escape(other.refuse)}", highlight=False)
    out.print(escape(where) + "\n", highlight=False)


def _headline(entry: Entry) -> str:
    m = entry.model
    assert m is not None
    facts = [m.format.upper() + (", word-swapped" if m.swapped else "")]
    if m.layers is not None:
        facts.append(f"{m.layers} layers")
    if m.nbytes is not None:
        facts.append(f"{kib(m.nbytes)} ({m.nbytes} bytes)")
    if m.main_mem is not None:
        facts.append(f"main memory {kib(m.main_mem)}")
    if m.kpu_span:
        facts.append(f"KPU RAM {kib(m.kpu_span)}")
    lines = [", ".join(facts)]
    for name, tensors in (("in", m.inputs), ("out", m.outputs)):
        for shape, kind, n in tensors or ():
            parts = ["x".join(map(str, shape)) if shape else "shape not in the file", kind]
            size = f", {kib(n)}" if n is not None else ""
            lines.append(f"{name:>3}: {' '.join(filter(None, parts))}{size}")
    return escape("\n".join(lines))


def _memory(out: Console, entry: Entry) -> None:
    m = entry.model
    assert m is not None
    out.print("system heap, by the way it is loaded:", style="bold")
    rows = []
    for method in METHODS:
        need, peak, free = m.need(method), m.peak(method), room(m, method)
        bytes_free = "-" if free is None else str(free)
        rows.append(([_WAYS[method], _size(need), _size(peak), bytes_free], ""))
    show_table(out, _MEMORY, rows)


def _size(n: int | None) -> str:
    return "-" if n is None else kib(n)


def _layers(out: Console, entry: Entry) -> None:
    rows = [
        ([str(x.index), x.name, hexa(x.offset), kib(x.size), x.detail], "") for x in entry.layers
    ]
    show_table(out, _LAYERS, rows)


def _verdicts(out: Console, entry: Entry) -> None:
    out.print("verdict, after power-on:", style="bold")
    rows = []
    for v in entry.verdicts:
        word = "yes: " if v.good else "no: "
        cells = [v.firmware.name, _heap(v.firmware), word + v.text]
        rows.append((cells, "green" if v.good else "red"))
    show_table(out, _VERDICTS, rows)


def _heap(firmware: Firmware) -> str:
    return "?" if firmware.heap is None else kib(firmware.heap)
