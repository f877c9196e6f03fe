# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem fit`: will it all fit, in this order, on that firmware; and what to change when it does
not."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from maixmem_report import kib
from rich.console import Console

from maixmem_cli.answer import as_text
from maixmem_cli.answer.answer import Answer
from maixmem_cli.answer.as_json import data
from maixmem_cli.commands.options import ADDRESS_FILE, firmware_option
from maixmem_cli.commands.script_options import PROJECT, SD, board_of, setup_of
from maixmem_cli.firmware.builds import Firmware, choose
from maixmem_cli.plan import html as fit_html
from maixmem_cli.plan import maixcam2, of_plan, svg_time
from maixmem_cli.plan.changes import cheapest
from maixmem_cli.plan.fit import MARGIN, Fit, Step, fit, headers
from maixmem_cli.plan.program import project
from maixmem_cli.text.output import LANG, console, unreadable, write_file
from maixmem_cli.text.tables import Column, show_table

_BAR = 14
LEGEND = "use: # used before, = stays, - while the step runs, . free, ! more than exists"
_COLUMNS = (
    Column("step", name=True),
    Column("heap"),
    Column("use", extra=True),
    Column("stays", right=True),
    Column("peak", right=True),
    Column("free before", right=True),
)
_REGIONS = {"heap": "system", "gc": "GC"}


def bar(step: Step) -> str:
    """The marks of LEGEND."""
    cells = []
    total = max(step.total, step.free)
    for i in range(_BAR):
        at = (2 * i + 1) * total // (2 * _BAR)
        taken = total - step.free
        kinds = ((taken, "#"), (taken + step.need, "="), (taken + step.peak, "-"))
        cells.append(next((mark for end, mark in kinds if at < end), "."))
    return "".join(cells) + ("" if step.fits else "!")


def show(out: Console, answer: Fit) -> None:
    """The steps as a table, then what is refused, overlaps or takes turns."""
    build = answer.project.firmware
    out.print(f"firmware {build.name} ({build.source}), GC heap {kib(answer.project.gc_heap)}")
    rows = []
    for s in answer.steps:
        name = s.what + (" (in turn)" if s.turn else "")
        sizes = [kib(n) for n in (s.need, s.peak, s.free)]
        rows.append(([name, _REGIONS[s.region], bar(s), *sizes], "" if s.fits else "bold red"))
    show_table(out, _COLUMNS, rows, LEGEND)
    for s in answer.steps:
        if not s.fits:
            what = f"{s.what}: {kib(s.peak - s.free)} of {_REGIONS[s.region]} heap missing"
            out.print(what, style="red", markup=False)
    if answer.turns:
        out.print(f"take turns (ModelManager): {', '.join(answer.turns)}", markup=False)
    for text in answer.refused:
        out.print(f"cannot run: {text}", markup=False)
    for text in answer.flash:
        out.print(f"flash: {text}", markup=False)
    for text in answer.risks:
        out.print(f"flash, careful: {text}", markup=False)
    for name, last in answer.dies.items():
        out.print(f"leak: {name}: the heap is full in round {last}", markup=False)
    for text in answer.pictures:
        out.print(f"picture: {text}", style="yellow", markup=False)


def _say_fits(out: Console, answer: Fit) -> None:
    """FITS, and where a heap has next to nothing left, which and how little."""
    if not answer.tight:
        out.print("FITS", style="bold green")
        return
    left = ", ".join(f"{kib(n)} of {_REGIONS[r]} heap left" for r, n in answer.tight.items())
    out.print(
        f"FITS, but it is tight: {left}. An import or a list more ends it. Next: free "
        f"{' and '.join(f'{kib(MARGIN[r])} of {_REGIONS[r]} heap' for r in answer.tight)}.",
        style="bold yellow",
    )


def _verdict(out: Console, answer: Fit, made: Answer | None) -> None:
    if made:
        advise(out, made)
    elif answer.pictures:
        out.print("FITS in memory, but KPU will refuse the picture: see above", style="yellow")
    else:
        _say_fits(out, answer)


def advise(out: Console, made: Answer) -> None:
    """What does not fit, and what to do."""
    out.print("DOES NOT FIT", style="bold red")
    for line in as_text.lines(made):
        out.print(line, markup=False)


@click.command(
    name="fit",
    epilog="Example: maixmem init --bare; maixmem fit project.toml --html report.html",
)
@click.argument(
    "file",
    required=False,
    metavar="PROJECT.toml|SCRIPT.py",
    type=click.Path(dir_okay=False, path_type=Path),
)
@firmware_option("Plan for this build instead of the project's; run the script on it.")
@click.option(
    "--flash",
    multiple=True,
    type=ADDRESS_FILE,
    metavar="FILE@ADDR",
    help="The model that lies there in flash, as for sim (repeat).",
)
@SD
@click.option(
    "--camera",
    default="pattern",
    show_default=True,
    metavar="FILE|FOLDER|pattern",
    help="What the camera of a script sees.",
)
@click.option(
    "--frames",
    default=50,
    show_default=True,
    type=click.IntRange(1),
    help="A script has had its rounds after so many pictures.",
)
@click.option(
    "-o",
    "to_project",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PROJECT.toml",
    help="Write what the script's run took as a project, for what-if.",
)
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.json",
    help="Write the record of the script's run.",
)
@LANG
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the memory over time into a file.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write one page with the tables and the pictures of memory and flash.",
)
def command(
    *,
    file: Path | None,
    firmware: Firmware | None,
    flash: tuple[tuple[int, Path], ...],
    sd: Path | None,
    camera: str,
    frames: int,
    to_project: Path | None,
    record: Path | None,
    as_json: bool,
    svg: Path | None,
    html: Path | None,
    language: str,
) -> None:
    """Will models, camera, display and buffers fit on a K210 board, or a MaixCAM2?

    A SCRIPT.py is run, on a firmware image (a file, or of the name of a build the file in
    $MAIXMEM_FIRMWARE), else on the stand-in, and what it did to both heaps is judged. A
    PROJECT.toml is computed, as the library does on the board before it loads; with
    board = "maixcam2" it is one of a MaixCAM2's carve-out (docs/linux.md). Exit status: 0 it
    fits, 1 it does not, 2 wrong use, 3 the board hangs, 4 the run cannot tell, and why.
    """
    if file is None:
        raise click.UsageError(
            "PROJECT.toml is missing. Next: `maixmem init FOLDER` writes a program with one, "
            "`maixmem init --bare` a project file alone"
        )
    if file.suffix == ".py":
        from maixmem_cli.commands import fit_script
        from maixmem_cli.emulator.session import Options

        _none_of({"--svg": svg, "--html": html}, "of a project. Next: -o PROJECT.toml, then that")
        setup = setup_of(file)
        if not firmware and setup.firmware:
            firmware = choose(setup.firmware)
            click.echo(f"{PROJECT}: --firmware {setup.firmware}", err=True)
        flash, sd, _ = board_of(setup, flash, sd, {}, camera=False)
        options = Options(
            files=flash,
            sd=sd,
            camera=camera,
            frames=frames,
            seconds=fit_script.SECONDS,
            begin=fit_script.BEGIN,
        )
        output = fit_script.Output(as_json, language, to_project, record)
        sys.exit(fit_script.fit_script(file, firmware, options, output))
    of_script = {"--sd": sd, "-o": to_project, "--record": record}
    _none_of(of_script, "of a script, which is run; a project is computed")
    if _is_maixcam2(file):
        from maixmem_cli.commands import fit_maixcam2

        of_k210 = {"--firmware": firmware, "--flash": flash, "--svg": svg, "--html": html}
        _none_of(of_k210, "of a K210; the project is of a MaixCAM2")
        sys.exit(fit_maixcam2.fit(file, language, as_json))
    wanted, infos, answer = _answer(file, firmware, dict(flash))
    changes, after = ([], None) if answer.fits else cheapest(answer, infos)
    made = None if answer.fits else of_plan.of_fit(answer, changes, after, language)
    if svg:
        write_file("--svg", svg, svg_time.draw(answer))
    if html:
        write_file("--html", html, fit_html.page(answer, made))
    if as_json:
        told: dict[str, Any] = {"changes": [c.text() for c in changes]}
        told.update(after=after and after.to_dict(), answer=made and data(made))
        click.echo(json.dumps({**answer.to_dict(), **told}, indent=2))
    else:
        out = console()
        show(out, answer)
        _verdict(out, answer, made)
    sys.exit(0 if answer.fits and not answer.pictures else 1)


def _is_maixcam2(file: Path) -> bool:
    try:
        return maixcam2.is_project(file)
    except (ValueError, OSError):
        return False  # said where the project is read


def _none_of(options: Mapping[str, object], why: str) -> None:
    for option, given in options.items():
        if given:
            raise click.BadParameter(why, param_hint=option)


def _answer(
    file: Path, firmware: Firmware | None, flash: dict[int, Path]
) -> tuple[project.Project, dict, Fit]:
    try:
        wanted = project.read(file, flash, firmware and firmware.measured())
        infos = headers(wanted)
        return wanted, infos, fit(wanted, infos)
    except ValueError as e:
        raise click.UsageError(f"{file}: {e}") from None
    except OSError as e:
        raise click.UsageError(f"{file}: {unreadable(e, file)}") from None
