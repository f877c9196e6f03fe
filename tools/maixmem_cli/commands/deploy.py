# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem deploy`: the right files for the board at a port, checked there."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import click
from maixmem_report import kib
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from maixmem_cli.board import deploy
from maixmem_cli.commands.options import PORT, VERBOSE, board_errors, choose_port
from maixmem_cli.library.bytecode import CompileError
from maixmem_cli.serial import drive
from maixmem_cli.serial.transfer import TransferError
from maixmem_cli.text.output import JSON, console, print_json


@contextlib.contextmanager
def progress_bar(files: dict[str, bytes], quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """A bar over the bytes of all files on a terminal; nothing on a pipe."""
    done: dict[str, int] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    screen = console(stderr=True)
    with Progress(
        *columns, console=screen, transient=True, disable=quiet or not screen.is_terminal
    ) as progress:
        task = progress.add_task("copying", total=sum(map(len, files.values())))

        def show(name: str, nbytes: int) -> None:
            done[name.rpartition("/")[2]] = nbytes
            progress.update(task, completed=sum(done.values()), description=name)

        yield show


def show(done: dict[str, Any]) -> None:
    out = console(soft_wrap=True)
    form = "sources" if done["bytecode"] is None else f"bytecode {done['bytecode']}"
    out.print(f"{done['board']}: {form} to {done['target']}, {kib(done['bytes'])}", markup=False)
    out.print(
        f"{len(done['copied'])} copied, {len(done['same'])} were right already, "
        f"{len(done['removed'])} old removed; checked by {done['checked_by']}"
    )
    if done["free_before"] is not None:
        taken = done["free_before"] - done["free_after"]
        out.print(
            f"imported all: {kib(done['free_before'])} free in the GC heap before, "
            f"{kib(done['free_after'])} after ({kib(taken)} for all modules at once)"
        )
    for text in done["findings"]:
        out.print(f"! {text}", markup=False)
    for text in done["notes"]:
        out.print(f"note: {text}", markup=False)


@click.command(
    name="deploy", epilog="Example: maixmem deploy --port /dev/ttyUSB0 --modules pool,flash"
)
@PORT
@click.option(
    "--modules",
    "names",
    metavar="A,B",
    default="",
    help="Only these and what they need: pool,flash. Default: all for the board.",
)
@click.option(
    "--target",
    metavar="DIR",
    help="Directory on the board, /flash or /sd; or a mounted CIRCUITPY drive.",
)
@click.option("--source", is_flag=True, help="Copy .py files also where .mpy files would load.")
@click.option(
    "--wait",
    type=float,
    default=10,
    show_default=True,
    help="Seconds to wait for a board that was cut off.",
)
@click.option("--remove", "removing", is_flag=True, help="Take the library off the board.")
@JSON
@VERBOSE
def command(
    *,
    port: str | None,
    names: str,
    target: str | None,
    source: bool,
    wait: float,
    removing: bool,
    as_json: bool,
) -> None:
    """Put the library on a board and check it there.

    Asks the board who it is and which bytecode it loads, copies what differs, compares size and
    SHA-256 on the board, imports every module there. Interrupts the program that runs on the
    board. A cut transfer is repeated; it leaves the old files until all new ones are in place.
    Exit status: 1 not done or findings, 2 no board.
    """
    wanted = tuple(n.strip() for n in names.split(",") if n.strip())
    bar = functools.partial(progress_bar, quiet=as_json)
    with board_errors(TransferError, CompileError):
        if removing:
            done = deploy.remove(choose_port(port), target)
            if as_json:
                print_json(done)
            else:
                count = len(done["removed"])
                click.echo(f"{done['board']}: {count} files removed from {done['target']}")
            return
        if target and drive.is_drive(Path(target)):
            done = deploy.to_drive(Path(target), wanted, bar)
        else:
            done = deploy.to_board(
                choose_port(port),
                wanted,
                target=target,
                sources=source,
                patience=wait,
                progressing=bar,
            )
    if as_json:
        print_json(done)
    else:
        show(done)
    raise SystemExit(1 if done["findings"] else 0)
