# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem fit`: will it all fit, in this order, on that firmware; and what to change when it does not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from maixmem import kib
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from maixmem_cli import fit_svg, project
from maixmem_cli.fit import Fit, Step, fit, headers
from maixmem_cli.fit_cure import Change, cure
from maixmem_cli.output import console, unreadable, write_file

_BAR = 14


def bar(step: Step) -> str:
    """# taken before, = what stays, - only while it is made, ! more than there is."""
    cells = []
    for i in range(_BAR):
        at = (2 * i + 1) * step.total // (2 * _BAR)
        taken = step.total - step.free
        kinds = ((taken, "#"), (taken + step.need, "="), (taken + step.peak, "-"))
        cells.append(next((mark for end, mark in kinds if at < end), "."))
    return "".join(cells) + ("" if step.fits else "!")


def show(out: Console, answer: Fit) -> None:
    """The steps as a table, then what is refused, overlaps or takes turns."""
    title = f"firmware {answer.project.firmware}, GC heap {kib(answer.project.gc_heap)}"
    table = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("step", overflow="ellipsis", no_wrap=True)
    for name in ("heap", "use"):
        table.add_column(name, no_wrap=True)
    for name in ("stays", "peak", "free"):
        table.add_column(name, justify="right", no_wrap=True)
    for s in answer.steps:
        name = escape(s.what) + (" (in turn)" if s.turn else "")
        sizes = [kib(n) for n in (s.need, s.peak, s.free)]
        table.add_row(name, s.region, bar(s), *sizes, style="" if s.fits else "bold red")
    out.print(table)
    for s in answer.steps:
        if not s.fits:
            out.print(f"{s.what}: {kib(s.peak - s.free)} short", style="red", markup=False)
    if answer.turns:
        out.print(f"take turns (ModelManager): {', '.join(answer.turns)}", markup=False)
    for text in answer.refused:
        out.print(f"cannot run: {text}", markup=False)
    for text in answer.flash:
        out.print(f"flash: {text}", markup=False)
    for text in answer.risks:
        out.print(f"flash, careful: {text}", markup=False)


def advise(out: Console, answer: Fit, changes: list[Change], after: Fit | None) -> None:
    """The changes and the numbers they lead to."""
    if after is None:
        out.print(
            "DOES NOT FIT, and none of the changes that were tried help. Next: a smaller model or camera.",
            style="bold red",
        )
        return
    out.print("DOES NOT FIT. It fits with:", style="bold red")
    for change in changes:
        out.print(f"  * {change.text}", markup=False)
    out.print(
        f"then at most {kib(after.peak('heap'))} of system heap and {kib(after.peak('gc'))} of GC heap are in use."
    )


@click.command(
    name="fit",
    epilog="Example: maixmem fit --init > project.toml; maixmem fit project.toml --svg map.svg",
)
@click.argument(
    "file",
    required=False,
    metavar="PROJECT.toml",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option("--init", is_flag=True, help="Write a commented example to the output.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the memory over time into a file.",
)
def command(file: Path | None, init: bool, as_json: bool, svg: Path | None) -> None:
    """Will models, camera, display and buffers fit on a K210 board?

    The computation is the one that the library does on the board before it loads. Exit status: 0 it fits,
    1 it does not, 2 wrong use.
    """
    if init:
        click.echo(project.EXAMPLE, nl=False)
        return
    if file is None:
        raise click.UsageError("PROJECT.toml is missing; `maixmem fit --init` writes an example")
    try:
        wanted = project.read(file)
        infos = headers(wanted)
        answer = fit(wanted, infos)
    except ValueError as e:
        raise click.UsageError(f"{file}: {e}") from None
    except OSError as e:
        raise click.UsageError(f"{file}: {unreadable(e, file)}") from None
    changes, after = ([], None) if answer.fits else cure(answer, infos)
    if svg:
        write_file("--svg", svg, fit_svg.draw(answer))
    if as_json:
        data = {
            **answer.to_dict(),
            "changes": [c.text for c in changes],
            "after": after and after.to_dict(),
        }
        click.echo(json.dumps(data, indent=2))
    else:
        out = console()
        show(out, answer)
        if answer.fits:
            out.print("FITS", style="bold green")
        else:
            advise(out, answer, changes, after)
    sys.exit(0 if answer.fits else 1)
