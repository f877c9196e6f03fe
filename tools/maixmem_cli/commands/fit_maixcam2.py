# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem fit` of a MaixCAM2's project: its table, its verdict."""

from __future__ import annotations

import json
from pathlib import Path

import click
from maixmem_report import kib
from rich.console import Console

from maixmem_cli.answer import as_text
from maixmem_cli.plan import maixcam2, of_plan
from maixmem_cli.text.output import console, unreadable
from maixmem_cli.text.tables import Column, show_table

_COLUMNS = (
    Column("step", name=True),
    Column("CMM", right=True),
    Column("peak", right=True),
    Column("Linux", right=True),
)


def fit(file: Path, language: str, as_json: bool) -> int:
    """Prints whether a project fits; the status: 0 it does, 1 it does not."""
    try:
        plan = maixcam2.read(file)
    except ValueError as e:
        raise click.UsageError(f"{file}: {e}") from None
    except OSError as e:
        raise click.UsageError(f"{file}: {unreadable(e, file)}") from None
    if as_json:
        click.echo(json.dumps(plan.to_dict(), indent=2))
    else:
        _show(console(), plan, language)
    return 0 if plan.fits else 1


def _show(out: Console, plan: maixcam2.Plan, language: str) -> None:
    memory, cmm, linux = plan.memory >> 20, plan.cmm >> 20, plan.linux >> 20
    out.print(f"MaixCAM2 of {memory} MiB: CMM {cmm} MiB, Linux {linux} MiB")
    rows = []
    for s in plan.steps:
        name = s.what + (" (in turn)" if s.turn and not plan.holds(plan.apart) else "")
        rows.append(([name, kib(s.cmm), kib(s.cmm_peak), kib(s.heap_peak)], ""))
    show_table(out, _COLUMNS, rows)
    out.print(
        "estimates: from MaixCDK's source and the files' sizes, untested on a board; the system's "
        "own memory is not in them",
        style="dim",
    )
    at_once = plan.holds(plan.apart)
    need = plan.apart if at_once else plan.in_turn
    if plan.fits:
        how = "" if at_once else ", with models that take turns (ModelManager)"
        left = f"{kib(plan.cmm - need.cmm)} of CMM and {kib(plan.linux - need.heap)} of Linux left"
        out.print(f"FITS{how}: {left}.", style="bold green", markup=False)
        return
    out.print("DOES NOT FIT", style="bold red")
    for line in as_text.lines(of_plan.of_maixcam2(plan, language)):
        out.print(line, markup=False)
