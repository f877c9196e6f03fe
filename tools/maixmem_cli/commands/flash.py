# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem flash`: who owns which flash bytes, before anything is flashed."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click
from maixmem import FlashOverlap
from maixmem_flash import FlashMap, FlashRegion
from maixmem_flash_check import Conflict, unaligned
from maixmem_report import kib
from rich.markup import escape

from maixmem_cli.commands.options import SIZE, firmware_option
from maixmem_cli.firmware.builds import Firmware
from maixmem_cli.flash import moves as flash_moves
from maixmem_cli.flash.svg_map import COLOURS, draw
from maixmem_cli.plan.flash_items import ItemError, Layout, suggest
from maixmem_cli.text.numbers import hexa
from maixmem_cli.text.output import console, to_file, write_file
from maixmem_cli.text.tables import Column, show_table

_CELLS = 64
_STRIP_ENDS = 22  # columns of the addresses at both ends of the strip
_COLUMNS = (
    Column("start"),
    Column("end"),
    Column("size", right=True),
    Column("kind"),
    Column("name", name=True),
    Column("known from"),
)
_PIPE_WIDTH = 200  # columns of the table where there is no terminal


@click.command(
    name="flash", epilog="Example: maixmem flash maixpy.bin face.kmodel@0x300000 --svg flash.svg"
)
@click.argument("items", nargs=-1, required=True, metavar="ITEM...")
@click.option(
    "--size", default="16M", show_default=True, type=SIZE, help="Bytes of the flash chip."
)
@firmware_option("What lies at 0x000000 already. Default: the largest official build may.")
@click.option("--json", "as_json", is_flag=True, help="The map and the verdicts as JSON.")
@to_file
@click.option(
    "--svg", type=click.Path(dir_okay=False, path_type=Path), help="Draw the map into this file."
)
@click.option(
    "--suggest", "suggested", is_flag=True, help="Addresses that work with every official build."
)
def command(
    *,
    items: tuple[str, ...],
    size: int,
    firmware: Firmware | None,
    as_json: bool,
    svg: Path | None,
    suggested: bool,
) -> None:
    """Check a flash layout: overlaps by the byte, and what a flasher may overwrite.

    ITEM is FILE@ADDRESS, a firmware .bin, a .kfpkg package, or a dump of the whole chip.
    Exit status: 0 fine (there may be risks), 1 conflicts or damage, 2 wrong use.
    """
    try:
        layout = Layout.of(items, size, firmware)
    except ItemError as e:
        raise click.UsageError(str(e)) from None
    findings = layout.verdicts()
    answer = describe(layout, findings, suggested)
    if svg:
        write_file("--svg", svg, draw(layout.map))
    if as_json:
        click.echo(json.dumps(answer, indent=2))
    else:
        show(layout.map, answer)
    sys.exit(1 if findings or layout.map.unread else 0)


def describe(layout: Layout, findings: list[tuple[str, str]], suggested: bool) -> dict[str, Any]:
    """The answer as plain data, the same for JSON and for the terminal."""
    m = layout.map
    answer: dict[str, Any] = {
        "size": m.size,
        "regions": [_region(r) for r in sorted(m.regions, key=lambda r: (r.start, r.end))],
        "conflicts": [_conflict(c) for c in m.conflicts()],
        "risks": [_conflict(c) for c in m.risks()],
        "unaligned": [r.name for r in unaligned(m)],
        "unread": [{"start": a, "end": b, "why": why} for a, b, why in m.unread],
        "findings": [{"what": what, "text": text} for what, text in findings],
        "notes": layout.notes,
    }
    if m.conflicts() or unaligned(m):
        answer["moves"] = _places(lambda: flash_moves.plan(m))
    if suggested:
        answer["suggest"] = _places(lambda: suggest(layout))
    return answer


def _places(find: Any) -> list[dict[str, Any]] | str:
    try:
        return [{"name": r.name, "from": r.start, "to": to} for r, to in find()]
    except FlashOverlap as e:
        return str(e)


def _region(r: FlashRegion) -> dict[str, Any]:
    shown = {"name": r.name, "start": r.start, "end": r.end, "kind": r.kind, "source": r.source}
    return shown if r.intact is None else {**shown, "intact": r.intact}


def _conflict(c: Conflict) -> dict[str, Any]:
    return {
        "why": c.kind,
        "first": c.first.name,
        "second": c.second.name if c.second else None,
        "start": c.start,
        "end": c.end,
        "nbytes": c.nbytes,
        "text": str(c),
    }


def show(m: FlashMap, answer: dict[str, Any]) -> None:
    """The map and the verdicts on the terminal."""
    out = console()
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = _PIPE_WIDTH
    width = min(_CELLS, max(8, out.width - _STRIP_ENDS))
    out.print(strip(m, width), markup=False, soft_wrap=True)
    kinds = {r["kind"] for r in answer["regions"]} - {"free"}
    marks = [f"{COLOURS[k][2]} {k}" for k in COLOURS if k in kinds]
    marks += ["! two owners"] * bool(answer["conflicts"])
    out.print(", ".join([*marks, ". free or not known"]), style="dim")
    rows = []
    for r in answer["regions"]:
        size = kib(r["end"] - r["start"])
        cells = [hexa(r["start"]), hexa(r["end"]), size, r["kind"], r["name"], r["source"]]
        rows.append((cells, COLOURS[r["kind"]][1]))
    show_table(out, _COLUMNS, rows)
    for finding in answer["findings"]:
        out.print(f"[bold red]{finding['what']}:[/] {escape(finding['text'])}")
    for text in answer["notes"]:
        out.print(f"[yellow]![/] {escape(text)}")
    for risk in answer["risks"]:
        out.print(f"[yellow]risk:[/] {escape(risk['text'])}")
    for gap in answer["unread"]:
        span = f"{hexa(gap['start'])}..{hexa(gap['end'])}"
        out.print(f"[yellow]not read:[/] {span}: {escape(gap['why'])}")
    for key, word in (("moves", "fewest moves"), ("suggest", "good with every official build")):
        if key in answer:
            out.print(f"[bold]{word}:[/] {escape(_steps(answer[key]))}")
    if not answer["findings"] and not answer["unread"]:
        out.print("[green]no conflict[/]" + (", but see the risks" if answer["risks"] else ""))


def _steps(places: list[dict[str, Any]] | str) -> str:
    if isinstance(places, str):
        return places
    return ", ".join(f"{p['name']}@{hexa(p['to'])}" for p in places) or "none"


def strip(m: FlashMap, cells: int = _CELLS) -> str:
    """The chip as one line: a letter for its owner, ! where two owners meet, . for nothing
    known or free."""
    line = ["."] * cells
    for r in m.regions:
        if r.kind != "free":
            for i in range(_cell(r.start, m, cells), _cell(r.end - 1, m, cells) + 1):
                line[i] = COLOURS[r.kind][2]
    for c in m.conflicts():
        for i in range(_cell(c.start, m, cells), _cell(c.end - 1, m, cells) + 1):
            line[i] = "!"
    return f"0x000000 |{''.join(line)}| {hexa(m.size)}"


def _cell(address: int, m: FlashMap, cells: int) -> int:
    return min(address * cells // m.size, cells - 1)
