# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem heap`: what lies on the GC heap of a board, who holds it, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

import click

from maixmem_cli.commands.options import VERBOSE, board_at, board_errors, choose_port
from maixmem_cli.commands.script_options import FLASH, SD, firmware_options
from maixmem_cli.text.needs import WrongUse
from maixmem_cli.text.output import JSON, print_json, printable, unreadable, write_file

if TYPE_CHECKING:
    from maixmem_cli.serial.repl import RawRepl
    from maixmem_cli.snapshot.store import Taken
    from maixmem_cli.snapshot.view import View

_IMAGES = (".bin", ".kfpkg")
_LONG = 3600.0  # seconds of silence of a script
_FILE = click.Path(dir_okay=False, path_type=Path)
_EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    name="heap",
    epilog="Example: maixmem heap /dev/ttyACM0 --run main.py --save before.heap",
)
@click.argument("source", metavar="[PORT|FILE|IMAGE]", required=False)
@click.option("--run", type=_EXISTING, metavar="SCRIPT", help="Run it first.")
@click.option(
    "--after",
    type=click.FloatRange(min=0.05),
    multiple=True,
    metavar="SECONDS",
    help="Take it so long after the start of SCRIPT, which then goes on; two: what changed; "
    "three and more: what grows each time.",
)
@click.option("--garbage", is_flag=True, help="Collect no garbage before.")
@click.option("--path", metavar="ADDRESS|NAME", help="Why this object is in use.")
@click.option("--save", type=_FILE, metavar="FILE", help="Write the snapshot to this file.")
@click.option("--html", type=_FILE, metavar="FILE", help="Write a page with treemaps and a map.")
@click.option("--svg", type=_FILE, metavar="FILE", help="Write the pictures alone.")
@click.option(
    "--diff",
    type=_EXISTING,
    nargs=2,
    metavar="A B",
    help="What came, went and grew between two saved snapshots.",
)
@FLASH
@SD
@firmware_options
@JSON
@VERBOSE
def command(
    *,
    source: str | None,
    run: Path | None,
    after: tuple[float, ...],
    garbage: bool,
    path: str | None,
    save: Path | None,
    html: Path | None,
    svg: Path | None,
    diff: tuple[Path, Path] | None,
    as_json: bool,
    **on_board: Any,
) -> None:
    """Show what lies on a board's GC heap, by type and by the name of who holds it.

    PORT is a board: serial port, pty, socket://HOST:PORT, emu:IMAGE; any MicroPython from 1.11 on,
    MaixPy. The program that runs there is interrupted by Ctrl-C and not resumed; its names stay as
    they are, and nothing is stored to an address. With --run and --after a timer of the board
    takes the snapshot between two bytecodes, with the values of its functions, and the program
    goes on; without such a timer Ctrl-C ends it. FILE is a saved snapshot. IMAGE is a firmware of
    a K210, which is started in software and runs SCRIPT; the options about flash, card, camera are
    for it. Exit status: 0 fine, 1 no snapshot of this board, 2 wrong use.
    """
    if diff:
        _difference(*map(_loaded, diff), as_json=as_json)
        return
    if after and not run:
        raise click.UsageError("--after is of a program. Next: --run SCRIPT with it")
    with board_errors(), _snapshot_errors():
        taken = _taken(source, run, sorted(after), not garbage, on_board)
    if save:
        _save(taken, save)
    from maixmem_cli.snapshot.view import view

    several = len(taken) > 1 and not path
    with _snapshot_errors():
        views = [view(one) for one in (taken if several else taken[-1:])]
    _draw(views[-1], html, svg)
    if several:
        _difference(*views, as_json=as_json)
    else:
        _show(views[0], path, as_json=as_json)


def _taken(
    source: str | None,
    script: Path | None,
    after: Sequence[float],
    collect: bool,
    options: dict[str, Any],
) -> list[Taken]:
    from maixmem_cli.snapshot import store

    file = Path(source or "")
    if source and file.is_file():
        if file.suffix not in _IMAGES or store.is_one(file):
            return [store.load(file)]
        return _of_image(file, script, after, collect, options)
    port = choose_port(source)
    if script and after:
        return _of_running(port, script, after, collect)
    return [_of_port(port, script, collect)]


def _of_port(port: str, script: Path | None, collect: bool) -> Taken:
    from maixmem_cli.snapshot import take

    board = board_at(port)
    try:
        if script:
            _run(board, script)
        with _progress() as progress:
            return take.of_board(board, collect=collect, progress=progress)
    finally:
        board.close()


def _of_running(port: str, script: Path, after: Sequence[float], collect: bool) -> list[Taken]:
    """After so many seconds each from the start of the script."""
    from maixmem_cli.snapshot import take
    from maixmem_cli.text import reading

    waits = take.waits(after)
    board = board_at(port)
    leave = board.close
    try:
        with _progress() as progress:
            source = reading.script(script)
            running = take.of_running(board, source, waits, collect=collect, progress=progress)
            if not running.armed:
                click.echo(
                    f"no timer on this board: Ctrl-C ends {script.name} after {after[0]:g} s; "
                    "what its globals hold stays, the values of its functions do not",
                    err=True,
                )
            found = [
                running.take(s, collect=collect) for s in waits[: None if running.armed else 1]
            ]
        if running.armed:
            leave = board.leave
        return found
    finally:
        leave()


def _run(board: RawRepl, script: Path) -> None:
    """The script to its end, what it prints on stderr."""
    from maixmem_cli.text import reading

    source = reading.script(script)
    _, error = board.run(source, _LONG, lambda text: click.echo(text, nl=False, err=True))
    if error:
        click.echo(error, nl=False, err=True)


def _of_image(
    image: Path,
    script: Path | None,
    after: Sequence[float],
    collect: bool,
    options: dict[str, Any],
) -> list[Taken]:
    from maixmem_cli.emulator import cores, session
    from maixmem_cli.runs import heap_of_image

    cores.check()
    wanted = session.Options(files=options.pop("flash"), **options)
    return heap_of_image.snapshots(image, script, wanted, after, collect=collect)


@contextmanager
def _snapshot_errors() -> Iterator[None]:
    from maixmem_cli.snapshot.store import SnapshotError

    try:
        yield
    except SnapshotError as e:
        raise click.ClickException(str(e)) from e


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    """Bytes that came, on a terminal."""
    from rich.progress import DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("reading the heap"), DownloadColumn(), TimeElapsedColumn())
    screen = _stderr()
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda n: bar.update(task, completed=n)


def _stderr() -> Any:
    from maixmem_cli.text.output import console

    return console(stderr=True)


def _save(taken: Sequence[Taken], path: Path) -> None:
    """One file, or one for each moment: heap-1, heap-2."""
    from maixmem_cli.snapshot import store

    for i, one in enumerate(taken, 1):
        name = path.with_name(f"{path.stem}-{i}{path.suffix}") if len(taken) > 1 else path
        write_file("--save", name, store.packed(one))


def _draw(shown: View, html: Path | None, svg: Path | None) -> None:
    if not html and not svg:
        return
    from maixmem_cli.snapshot import page, picture

    if html:
        write_file("--html", html, page.page(shown))
    if svg:
        write_file("--svg", svg, picture.svg_of(shown))


def _show(shown: View, path: str | None, *, as_json: bool) -> None:
    """The snapshot; or with `path` why an object of it is in use."""
    from maixmem_cli.snapshot import as_json as data
    from maixmem_cli.snapshot import paths, text

    with _snapshot_errors():
        way = paths.way(shown.graph, path) if path else None
    if as_json:
        print_json(data.way(way, shown.graph) if way else data.snapshot(shown))
    else:
        click.echo("\n".join(text.way(way, shown.graph) if way else text.lines(shown)))


def _loaded(path: Path) -> View:
    from maixmem_cli.snapshot import store, view

    try:
        with _snapshot_errors():
            return view.view(store.load(path))
    except OSError as e:
        raise WrongUse(printable(unreadable(e, path))) from e


def _difference(*views: View, as_json: bool) -> None:
    """From the first to the last; of more than two also what grew each time."""
    from maixmem_cli.snapshot import as_json as data
    from maixmem_cli.snapshot import diff, text

    with _snapshot_errors():
        diff.check(views[0], views[-1])
    if as_json:
        print_json(data.difference(views))
    else:
        click.echo("\n".join(text.difference(views)))
