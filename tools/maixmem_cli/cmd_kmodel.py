# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem kmodel`: what is in a model, what it needs, and which firmware builds run it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from maixmem import kib
from maixmem_kmodel import HOWS
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from maixmem_cli.firmwares import FIRMWARES
from maixmem_cli.kmodel_report import Entry, read_entries, room
from maixmem_cli.output import console, unreadable
from maixmem_cli.values import known_firmwares

_WAYS = {
    "load_path": 'kpu.load("/sd/...")',
    "load_addr": "kpu.load(address)",
    "stream_single": "kpu.load_flash, one buffer",
    "stream_dual": "kpu.load_flash, two buffers",
    "canmv": "CanMV load_kmodel",
    "sdk": "SDK kpu_load_kmodel",
}


@click.command(name="kmodel", epilog="Example: maixmem kmodel face.kmodel --firmware minimum")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--firmware", callback=known_firmwares, help=f"Judge this build only: {', '.join(FIRMWARES)}."
)
@click.option("--json", "as_json", is_flag=True, help="A list with one object for each model.")
@click.option("--layers", is_flag=True, help="List the layers too.")
def command(files: tuple[Path, ...], firmware: str | None, as_json: bool, layers: bool) -> None:
    """Say what a model needs and where it runs, from its headers.

    FILE is a .kmodel or a .kfpkg. Exit status 1: a model is damaged, or no build takes it.
    """
    builds = [f for f in FIRMWARES.values() if firmware in (None, f.name)]
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
    out.rule(escape(entry.file), align="left", style="dim")
    m = entry.model
    if m is None:
        out.print(f"[red]not usable:[/] {escape(entry.error or '')}\n")
        return
    out.print(_headline(entry), highlight=False)
    if m.need("sdk") is not None:
        out.print(_memory(entry))
    if layers and entry.layers:
        out.print(_layers(entry))
    for text in entry.warnings():
        out.print(f"[yellow]![/] {escape(text)}", highlight=False)
    out.print(_verdicts(entry))
    out.print()


def _headline(entry: Entry) -> str:
    m = entry.model
    assert m is not None
    facts = [m.format.upper() + (", word-swapped" if m.swapped else "")]
    if m.layers is not None:
        facts.append(f"{m.layers} layers")
    if m.nbytes is not None:
        facts.append(f"{m.nbytes} bytes")
    if m.main_mem is not None:
        facts.append(f"main memory {m.main_mem}")
    if m.kpu_span:
        facts.append(f"KPU RAM {kib(m.kpu_span)}")
    lines = [", ".join(facts)]
    for name, tensors in (("in", m.inputs), ("out", m.outputs)):
        for shape, kind, n in tensors or ():
            parts = ["x".join(map(str, shape)) if shape else "shape not in the file", kind]
            size = f", {n} bytes" if n is not None else ""
            lines.append(f"{name:>3}: {' '.join(filter(None, parts))}{size}")
    return escape("\n".join(lines))


def _memory(entry: Entry) -> Table:
    m = entry.model
    assert m is not None
    table = Table(box=box.SIMPLE_HEAD, title="system heap, bytes", title_justify="left")
    for name, align in (
        ("way", "left"),
        ("stays", "right"),
        ("peak", "right"),
        ("heap_free() to have", "right"),
    ):
        table.add_column(name, justify="right" if align == "right" else "left")
    for how in HOWS:
        figures = (m.need(how), m.peak(how), room(m, how))
        table.add_row(_WAYS[how], *("-" if n is None else str(n) for n in figures))
    return table


def _layers(entry: Entry) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title="layers", title_justify="left")
    for name in ("#", "layer", "offset", "bytes", "what"):
        table.add_column(name, justify="left" if name in ("layer", "what") else "right")
    for x in entry.layers:
        table.add_row(str(x.index), x.name, f"{x.offset:#x}", str(x.size), escape(x.detail))
    return table


def _verdicts(entry: Entry) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title="verdict", title_justify="left")
    table.add_column("firmware", no_wrap=True)
    table.add_column("heap", justify="right", no_wrap=True)
    table.add_column("answer")
    for v in entry.verdicts:
        colour = "green" if v.good else "red"
        word = "yes: " if v.good else "no: "
        table.add_row(
            v.firmware.name, kib(v.firmware.heap), f"[{colour}]{word}[/]{escape(v.text)}"
        )
    return table
