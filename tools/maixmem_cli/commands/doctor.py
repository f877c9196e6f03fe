# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem doctor`: asks a board how it is, and says what to do about what is wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from maixmem_report import bar, kib

from maixmem_cli.answer import as_text
from maixmem_cli.answer.answer import Answer
from maixmem_cli.answer.as_json import data
from maixmem_cli.board.diagnosis import Diagnosis
from maixmem_cli.commands.options import PORT, VERBOSE, board_at, board_errors
from maixmem_cli.firmware import board_file
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.firmware.survey import survey
from maixmem_cli.serial.repl import RawRepl
from maixmem_cli.text.numbers import hexa
from maixmem_cli.text.output import JSON, LANG, console, print_json, write_file
from maixmem_cli.text.tables import Column, show_table

_REGIONS = (
    Column("region", name=True),
    Column("use", extra=True),
    Column("used", right=True),
    Column("free", right=True),
    Column("largest", right=True),
)
_BOUNDS = {"used": "-", "free": "+", "largest": "+"}  # marks of a region that is not exact
_FLASH = (
    Column("start"),
    Column("end"),
    Column("size", right=True),
    Column("flash", name=True),
    Column("known from"),
)


def firmware_of(found: dict[str, Any] | None) -> str:
    """The name of a known build of this length, or its length."""
    for name, start, end, kind, _, _ in (found or {}).get("regions", []):
        if kind == "firmware" and start == 0 and name == "firmware":
            known = [f.title for f in FIRMWARES.values() if f.end == end]
            same = f", as long as v0.6.2_84 {known[0]}" if known else ""
            return f"firmware up to {hexa(end)}{same}"
    return ""


def show(told: dict[str, Any], findings: list[Answer]) -> None:
    out = console()
    if "who" in told:
        name, version, platform, machine = told["who"]
        known = firmware_of(told.get("flash"))
        out.print(
            f"{platform} {'.'.join(map(str, version))} ({name}), {machine} {known}".rstrip(),
            markup=False,
        )
    rows = []
    for r in (told.get("report") or {}).get("regions") or told.get("heaps") or []:
        marks = dict.fromkeys(_BOUNDS, "") if r.get("exact", True) else _BOUNDS
        cells = ["?" if r[k] is None else kib(r[k]) + mark for k, mark in marks.items()]
        rows.append(([r["name"], bar(r["used"], r["total"]), *cells], ""))
    if rows:
        show_table(out, _REGIONS, rows, "use: # used, . free; + at least, - at most")
    for text in told.get("notes", []):
        out.print(text, markup=False, soft_wrap=True)
    rows = [
        ([hexa(start), hexa(end), kib(end - start), name, source], "")
        for name, start, end, _, source, _ in (told.get("flash") or {}).get("regions", [])
    ]
    if rows:
        show_table(out, _FLASH, rows)
    for m in told.get("models", []):
        out.print(f"{m['name']} at {hexa(m['address'])}: {_verdict(m)}", markup=False)
    out.print(f"{len(findings)} findings" if findings else "no findings")
    for i, f in enumerate(findings, 1):
        out.print(f"{i}. {f.cause}", markup=False, soft_wrap=True)
        for line in as_text.steps(f):
            out.print(f"   {line}", markup=False, soft_wrap=True)  # commands are copied


def _verdict(m: dict[str, Any]) -> str:
    """The answer for a model, in words."""
    if m.get("refuse") or m.get("shortage"):
        return str(m.get("refuse") or m["shortage"])
    if "need" not in m:
        return "not known, see the findings"
    need, free = kib(m["need"]["heap"]), kib(m["peak"]["heap"])
    return f"fits now: keeps {need}, loads where {free} are free"


@click.command(name="doctor", epilog="Example: maixmem doctor --port /dev/ttyUSB0")
@PORT
@click.option(
    "--full",
    is_flag=True,
    help="Also check the firmware's SHA-256 and read the whole flash (a minute).",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="BOARD.toml",
    help="Reset the board and write what plans have to know of it; fit, kmodel, flash take it "
    "as --firmware.",
)
@LANG
@JSON
@VERBOSE
def command(port: str | None, full: bool, save: Path | None, language: str, as_json: bool) -> None:
    """Check the memory and flash of a connected board: heaps, GC heap size, flash, models, files.

    Without the library on it (maixmem deploy): version, files and both heaps. Interrupts the
    program that runs there; changes nothing. Each finding comes with its cure. Exit status: 0 all
    is well, 1 findings, 2 no board.
    """
    with board_errors():
        board = board_at(port)
        try:
            if save:
                _save(board, save, as_json)
                return
            diagnosis = Diagnosis(board, full, language)
            diagnosis.run()
        finally:
            board.close()
    if as_json:
        print_json({**diagnosis.results, "findings": [data(f) for f in diagnosis.findings]})
    else:
        show(diagnosis.results, diagnosis.findings)
    sys.exit(1 if diagnosis.findings else 0)


def _save(board: RawRepl, path: Path, as_json: bool) -> None:
    told = survey(board)
    write_file("--save", path, board_file.text(told, path.name))
    if as_json:
        print_json(vars(told))
    else:
        click.echo(
            f"wrote {path}: {told.version}, {told.machine}. Next: maixmem fit "
            f"project.toml --firmware {path}"
        )
