# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem fit SCRIPT.py`: the script is run, and what it left is judged."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from maixmem_report import kib
from rich.console import Console

from maixmem_cli.answer import as_text
from maixmem_cli.answer.answer import Answer
from maixmem_cli.answer.as_json import data
from maixmem_cli.commands.script_options import bench_of, place_of
from maixmem_cli.commands.sim import read_script
from maixmem_cli.emulator.session import Options
from maixmem_cli.firmware.builds import FIRMWARES, Firmware
from maixmem_cli.plan import advice, flash_harm, judge, not_ours, of_record
from maixmem_cli.plan import smallest as smallest_of
from maixmem_cli.plan.judge import Verdict
from maixmem_cli.record import as_json
from maixmem_cli.record.record import Record
from maixmem_cli.runs import recorded
from maixmem_cli.text.output import console, write_file

SECONDS, BEGIN = 60.0, (1, 20.0)  #: of the board's clock; of the first picture
_STYLES = {judge.FITS: "bold green", judge.NOT: "bold red", judge.CANNOT_TELL: "bold yellow"}


@dataclass(frozen=True)
class Output:
    """What is to be written of a run: JSON to stdout, files."""

    as_json: bool
    language: str
    project: Path | None
    record: Path | None


def fit_script(script: Path, firmware: Firmware | None, options: Options, output: Output) -> int:
    """Runs it and says the verdict; its exit status."""
    source = read_script(script, False)
    other = not_ours.script_for(script, source)
    if other:
        raise click.UsageError(other)
    place = place_of(firmware or FIRMWARES["full"], options)
    found = recorded.run(script, place)
    harm = flash_harm.harm(place.build, dict(options.files))
    verdict = judge.with_flash(judge.judge(found, source), harm)
    smallest = smallest_of.gc_heap(found, script, source, place) if verdict.fits else None
    told = verdict.fits or judge.may_end(found, verdict)
    made = None if told else advice.of_run(found, output.language)
    if made:
        made = advice.proved(made, found, script, source, bench_of(place))
    said = _written(found, place.build, verdict, output)
    if output.as_json:
        shown = {**asdict(verdict), "answer": made and data(made), "record": asdict(found)}
        shown["smallest_gc_heap"] = smallest
        click.echo(json.dumps(shown, indent=1, ensure_ascii=False))
    else:
        _show(console(), verdict, made, [*_smaller(smallest, found), *said])
    return verdict.status


def _written(found: Record, build: Firmware, verdict: Verdict, output: Output) -> list[str]:
    """Writes the files that are wanted; a line about each."""
    if output.record:
        write_file("--record", output.record, as_json.write(found))
    if not output.project:
        return []
    if verdict.kind == judge.CANNOT_TELL:
        return [f"{output.project} was not written: a plan of half a program would say FITS"]
    wanted = of_record.project(found, build)
    name = build.name if build.name in FIRMWARES else found.board.path
    text = of_record.text(wanted, found.script, name, output.project.parent)
    write_file("-o", output.project, text)
    return [f"wrote {output.project}: change it, then maixmem fit {output.project}"]


def _smaller(nbytes: int | None, found: Record) -> list[str]:
    if nbytes is None:
        return []
    more = kib(found.board.gc_heap - nbytes)
    heap = f"a GC heap of {nbytes} bytes ({kib(nbytes)})"
    return [f"smallest: it runs with {heap} as well, which leaves {more} more to the system heap"]


def _show(out: Console, verdict: Verdict, made: Answer | None, said: list[str]) -> None:
    first, *rest = verdict.lines
    out.print(first, style=_STYLES[verdict.kind], markup=False, soft_wrap=True)
    if made:
        rest = [*verdict.error, *as_text.lines(made)]
    for line in (*rest, *said):
        out.print(line, markup=False, soft_wrap=True)
