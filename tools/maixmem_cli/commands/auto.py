# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem auto`: the one line that makes unchanged scripts safe, put on a board and taken off."""

from __future__ import annotations

import functools
from typing import Any

import click
from maixmem_report import kib

from maixmem_cli.answer.as_json import data
from maixmem_cli.board import auto_line
from maixmem_cli.commands import deploy, doctor
from maixmem_cli.commands.options import PORT, VERBOSE, board_errors, choose_port
from maixmem_cli.library.bytecode import CompileError
from maixmem_cli.serial.transfer import TransferError
from maixmem_cli.text.output import JSON, print_json


def _show(done: dict[str, Any]) -> None:
    deploy.show(done["deploy"])
    if done["changed"]:
        click.echo(f"{done['boot']} begins with import maixmem_auto")
        heap = done["gc_heap"]
        grown = heap["now"] and f"{kib(heap['before'])} -> {kib(heap['now'])}"
        click.echo(f"GC heap {grown or 'as it was: ' + heap['why']}")
    else:
        click.echo(f"{done['boot']} imports maixmem_auto already")
    doctor.show(done["doctor"], done["findings"])


@click.command(name="auto", epilog="Example: maixmem auto --install --port /dev/ttyUSB0")
@PORT
@click.option("--install", "way", flag_value="install", help="Put library and line on the board.")
@click.option("--remove", "way", flag_value="remove", help="Take both off again.")
@JSON
@VERBOSE
def command(port: str | None, way: str | None, as_json: bool) -> None:
    """Make the unchanged scripts of a MaixPy board safe: import maixmem_auto in its boot.py.

    Copies the library, puts the line before all that boot.py has (a program there stays), makes
    the GC heap larger by what the library takes where no model loses its room by that, resets the
    board, and asks doctor. Exit status: 0 all is well, 1 findings, 2 no board.
    """
    if way is None:
        raise click.UsageError("give --install or --remove")
    with board_errors(TransferError, CompileError):
        url = choose_port(port)
        if way == "remove":
            done = auto_line.remove(url)
            if as_json:
                print_json(done)
            else:
                count = len(done["removed"])
                click.echo(
                    f"{done['board']}: the line is out of {done['boot']}, {count} files removed"
                )
            return
        done = auto_line.install(url, functools.partial(deploy.progress_bar, quiet=as_json))
    if as_json:
        print_json({**done, "findings": [data(found) for found in done["findings"]]})
    else:
        _show(done)
    raise SystemExit(1 if done["findings"] or done["deploy"]["findings"] else 0)
