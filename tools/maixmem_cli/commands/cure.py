# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem cure`: a script that dies on a firmware, the changes that may help, each run there, and
the smallest that works as a diff."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import click
import libcst
from maixmem_report import kib

from maixmem_cli.answer import as_text
from maixmem_cli.answer.answer import Answer, answer
from maixmem_cli.answer.as_json import data
from maixmem_cli.answer.tables import board_text, words
from maixmem_cli.commands.script_options import (
    FLASH,
    SD,
    bench_of,
    board_of,
    firmware_of,
    firmware_or_image,
    place_of,
    setup_of,
)
from maixmem_cli.firmware.builds import choose
from maixmem_cli.plan import advice, judge, tried
from maixmem_cli.plan.tried import Bench
from maixmem_cli.record.record import GC, HEAP, RAISED, Record
from maixmem_cli.runs import recorded, trials
from maixmem_cli.runs.change import Edit
from maixmem_cli.runs.run_firmware import failing
from maixmem_cli.text import reading
from maixmem_cli.text.output import JSON, LANG, print_json, printable

_MARK = "\ufeff"


@click.command(
    name="cure",
    epilog="Example: maixmem cure main.py --firmware maixpy.bin --flash faces.kmodel@0x300000",
)
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--firmware",
    default="full",
    show_default=True,
    callback=firmware_or_image,
    metavar="IMAGE|BUILD",
    help="The firmware: a .bin or .kfpkg of a MaixPy v1 release; of the name of a build the file "
    "in $MAIXMEM_FIRMWARE, or else the stand-in, which proves less.",
)
@FLASH
@SD
@click.option(
    "--camera",
    default="pattern",
    show_default=True,
    metavar="FILE|FOLDER|pattern",
    help="What the camera sees.",
)
@click.option(
    "--frames",
    default=50,
    show_default=True,
    type=click.IntRange(1),
    help="It runs when it has seen so many pictures; a change, three times as many as the script.",
)
@click.option("--all", "every", is_flag=True, help="Show every change that works.")
@click.option("--write", is_flag=True, help="Apply the first; the old file stays as SCRIPT.orig.")
@LANG
@JSON
def command(
    *,
    script: Path,
    firmware: str,
    flash: tuple[tuple[int, Path], ...],
    sd: Path | None,
    camera: str,
    frames: int,
    every: bool,
    write: bool,
    language: str,
    as_json: bool,
) -> None:
    """Find the smallest change with which a script runs, and prove it on your firmware.

    The script runs on the board in software with your firmware, your models and a camera. Where it
    hangs, runs out of memory or leaks, changes are tried in the order of their cost, each on a
    board of its own; what is shown has run. Without a firmware all that is on the stand-in, and
    that is reported. What no option gives comes from a project.toml beside the script: firmware,
    models, card. Exit status: 0 it runs as it is, or a change is shown; 1 no change that was
    tried runs; 2 wrong use.
    """
    from maixmem_cli.emulator.session import Options

    setup = setup_of(script)
    firmware = firmware_of(setup, firmware)
    flash, sd, _ = board_of(setup, flash, sd, {}, camera=False)
    options = Options(
        files=flash,
        sd=sd,
        camera=camera,
        frames=frames,
        seconds=trials.SECONDS,
        begin=trials.BEGIN,
    )
    with failing(script):
        source = _source(script)
        place = place_of(choose(firmware), options)
        found = recorded.once(script, place)
        bench = bench_of(place)
        made = _of_text(script, language) if source[:1] == _MARK else None
        made = made or advice.of_run(found, language)
        if made is None:
            _runs(script, found, bench, as_json)
            return
        made = tried.without(made, ["cure"])
        shown = _cures(made, found, script, source, bench, every=every)
    answers = [one for _, one in shown]
    if as_json:
        print_json([data(one) for one in answers])
    else:
        _show(answers, bench)
    edit = shown[0][0]
    if edit and write:
        _write(script, source, edit, quiet=as_json)
    sys.exit(edit is None)


def _source(script: Path) -> str:
    """The text, with its line ends and with a mark that a board would refuse."""
    data = script.read_bytes()
    found, encoding = reading.decoded(data)
    return _MARK + found if encoding == "utf-8 with a mark" else found


def _of_text(script: Path, language: str) -> Answer:
    """A text that begins with a mark that the board refuses."""
    return answer(
        {"script": script.name, "end": RAISED, "of_text": "yes", "mark": "yes"}, language
    )


def _runs(script: Path, found: Record, bench: Bench, as_json: bool) -> None:
    if as_json:
        print_json([])
    else:
        where = board_text(bench.place.board)
        click.echo(f"{script.name} runs as it is on {where}: {_figures(found)}")


def _figures(found: Record) -> str:
    heap, gc = found.least_of(HEAP), found.least_of(GC)
    named = ((heap, "system heap"), (gc, "GC heap"))
    left = [f"{kib(least.level.free)} of {name} left" for least, name in named if least]
    return ", ".join([f"{found.pictures} pictures", *left, *judge.too_few(found)])


def _cures(
    made: Answer, found: Record, script: Path, source: str, bench: Bench, *, every: bool
) -> list[tuple[Edit | None, Answer]]:
    """The changes that run, the first alone or all of them, each as the answer's first step; with
    None the answer where none does, or none may."""
    if not advice.may_help(made):
        return [(None, made)]
    try:
        changes = tried.candidates(source, made.facts, bench)
    except SyntaxError as e:
        raise click.UsageError(f"{script}: {e}. Next: a script that runs") from None
    tries = tried.tries(made, changes, script, source, bench, found, tried.enough(found))
    cures = (one for one in tries if one)
    return list(cures if every else itertools.islice(cures, 1))


def _show(answers: list[Answer], bench: Bench) -> None:
    language = answers[0].language
    on = board_text(bench.place.board, language)
    click.echo(words(language)["on_it"].format(on=on))
    for one in answers:
        for line in as_text.lines(one, others=0 if len(answers) > 1 else 3):
            click.echo(printable(line))
        if one.step and one.step.diff:
            click.echo(f"\n{one.step.diff}", nl=False)


def _write(script: Path, source: str, edit: Edit, *, quiet: bool) -> None:
    kept = (f"{script.name}.orig{n or ''}" for n in itertools.count())
    old = next(path for path in map(script.with_name, kept) if not path.exists())
    old.write_bytes(source.encode())
    script.write_bytes(edit.source.encode())
    if not quiet:
        click.echo(f"\nwrote {script}; as it was: {old.name}")
