# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem cure`: a script that dies on a firmware, the changes that may help, each run there, and
the smallest that works as a diff."""

from __future__ import annotations

import difflib
import itertools
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
from maixmem_kmodel import KModelError, read_info
from maixmem_report import kib

from maixmem_cli.commands.script_options import FLASH, SD, firmware_or_image, kept
from maixmem_cli.emulator import cores
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.plan.edits import against_leaks, edits, likely_first
from maixmem_cli.runs.change import Edit
from maixmem_cli.runs.run_firmware import failing
from maixmem_cli.text import reading

_SECONDS = 120.0  # of the board's clock, for so many pictures as are asked for
_BEGIN = (5, 20.0)  # the first pictures and their seconds: a script without a camera takes none
_WORDS = {"limit": "runs", "done": "runs to its end"}
_BY_THE_TEXT = re.compile(
    r"\s*((Syntax|Indentation|Import|Name)Error\b|AttributeError: 'module' object)"
)
_NO_ROOM = re.compile(r"MemoryError|NoRoom|OSError|ValueError|RuntimeError|hangs")


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
    default=100,
    show_default=True,
    type=click.IntRange(1),
    help="It runs when it has seen so many pictures.",
)
@click.option("--all", "every", is_flag=True, help="Show every change that works.")
@click.option("--write", is_flag=True, help="Apply the first; the old file stays as SCRIPT.orig.")
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
) -> None:
    """Find the smallest change with which a script runs, and prove it on your firmware.

    The script runs on the board in software with your firmware, your models and a camera. Where it
    hangs, runs out of memory or leaks, changes are tried in the order of their cost, each on a
    board of its own; what is shown has run. Without a firmware all that is on the stand-in, which
    sees no leaks, and reported that. Exit status: 0 it runs as it is, or a change is shown; 1 no
    change that was tried runs; 2 wrong use.
    """
    from maixmem_cli.emulator.session import Options

    options = Options(files=flash, sd=sd, camera=camera, seconds=_SECONDS, begin=_BEGIN)
    with failing(script):
        source = _source(script)
        place, smaller = _place(firmware, options)
        before = place.run(script, Edit("", "", source), frames)
        if before.good:
            click.echo(f"{script.name} runs as it is on {place.where}: {_figures(before)}")
            return
        click.echo(f"On {place.where}:")
        _say_end(script, source, before)
        tried = _tried(script, source, before, (_sizes(flash, sd), flash, smaller))
        shown = 0
        for edit, after in _runs(tried, place, lambda edit: place.run(script, edit, frames)):
            if not before.cured(after):
                continue
            shown += 1
            _show(script, source, edit, before, after)
            if write and shown == 1:
                _write(script, source, edit)
            if not every:
                return
    if not shown:
        _none_helps(before, len(tried))


def _source(script: Path) -> str:
    """The text, with its line ends and with a mark that a board would refuse."""
    data = script.read_bytes()
    found, encoding = reading.decoded(data)
    return "\ufeff" + found if encoding == "utf-8 with a mark" else found


def _none_helps(before: Any, number: int) -> None:
    """Ends where no change that was tried runs."""
    does, following = "runs", "mend that line: it does not end for want of memory"
    if before.leaks:
        does = "ends the leak"
        following = "maixmem profile says who keeps it; what a loop collects needs a bound"
    elif any(map(_NO_ROOM.search, (before.kind, *before.why))):
        following = "maixmem fit"
    click.echo(f"None of the {number} changes that were tried {does}. Next: {following}")
    sys.exit(1)


def _say_end(script: Path, source: str, before: Any) -> None:
    """How the script ends, and why; that is all where the text itself is wrong for a board."""
    click.echo("\n  ".join([f"{script.name} as it is: {before.ended}", *before.why]))
    if any(map(_BY_THE_TEXT.match, before.why)):
        mark = "it begins with a byte order mark: save it as UTF-8 without one"
        following = mark if source.startswith("\ufeff") else "mend that line"
        click.echo(f"It does not end for want of memory: no change was tried. Next: {following}")
        sys.exit(1)


def _place(firmware: str, options: Any) -> tuple[Any, list[str]]:
    """Where scripts run: on an image or on the stand-in; and the smaller firmwares there."""
    from maixmem_cli.runs import trial

    image = firmware if Path(firmware).is_file() else kept(FIRMWARES[firmware].image)
    if image:
        cores.check()
        size = Path(image).stat().st_size
    else:
        size = FIRMWARES[firmware].image
    names = sorted((n for n, b in FIRMWARES.items() if b.image < size), key=_image, reverse=True)
    if not image:
        return trial.OnStandIn(firmware, options), names
    files = [kept(FIRMWARES[name].image) for name in names]
    return trial.OnImage(Path(image), options), [str(path) for path in files if path]


def _image(name: str) -> int:
    return FIRMWARES[name].image


def _tried(script: Path, source: str, before: Any, board: tuple[Any, ...]) -> list[Edit]:
    """The changes that may help against such an end, in order."""
    try:
        found = list(edits(source, *board))
    except SyntaxError as e:
        raise click.UsageError(f"{script}: {e}. Next: a script that runs") from None
    found = against_leaks(found) if before.leaks else found
    return likely_first(found, "\n".join(before.why), source, before.line)


def _runs(tried: list[Edit], place: Any, run: Any) -> Iterator[tuple[Edit, Any]]:
    """Each change with its run, in order; so many run at a time. What still runs when
    no more are wanted is ended."""
    with ThreadPoolExecutor(place.at_once) as pool:
        todo = list(tried)
        running: list[tuple[Edit, Any]] = []
        try:
            while todo or running:
                while todo and len(running) < place.at_once:
                    following = todo.pop(0)
                    running.append((following, pool.submit(run, following)))
                edit, future = running.pop(0)
                yield edit, future.result()
        finally:
            place.stop()


def _sizes(flash: tuple[tuple[int, Path], ...], sd: Path | None) -> list[tuple[int, int]]:
    """Widths and heights of the pictures that these models take."""
    files = [path for _, path in flash] + (sorted(sd.rglob("*.kmodel")) if sd else [])
    found = []
    for path in files:
        try:
            shapes = [shape for shape, _, _ in read_info(str(path)).inputs or ()]
        except (KModelError, OSError):
            continue
        found += [(s[3], s[2]) for s in shapes if s and len(s) == 4 and None not in s]
    return found


def _figures(run: Any) -> str:
    if run.peak is None:
        return "its heaps could not be read"
    gc = "" if run.gc_free is None else f", {kib(run.gc_free)} of GC heap free at the end"
    took = f"{run.frames} pictures, at most {kib(run.peak)} of system heap in use"
    return f"{took}, {kib(run.left)} left{gc}"


def _show(script: Path, source: str, edit: Edit, before: Any, after: Any) -> None:
    click.echo(f"\nIt runs with: {edit.text}  [{edit.kind}]")
    click.echo(f"  before: {before.ended}, {_figures(before)}")
    click.echo(f"  after:  {_WORDS[after.kind]}, {_figures(after)}\n")
    old, new = source.splitlines(keepends=True), edit.source.splitlines(keepends=True)
    for line in difflib.unified_diff(old, new, script.name, f"{script.name} (cured)"):
        click.echo(line if line.endswith("\n") else line + "\n", nl=False)


def _write(script: Path, source: str, edit: Edit) -> None:
    kept = (f"{script.name}.orig{n or ''}" for n in itertools.count())
    old = next(path for path in map(script.with_name, kept) if not path.exists())
    old.write_bytes(source.encode())
    script.write_bytes(edit.source.encode())
    click.echo(f"\nwrote {script}; as it was: {old.name}")
