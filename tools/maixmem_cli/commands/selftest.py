# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem selftest`: the library's own checks on the user's board, and what came of them as a
file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from maixmem import __version__

from maixmem_cli.board.selftest import FAULT, Selftest
from maixmem_cli.commands.options import PORT, VERBOSE, board_at, board_errors
from maixmem_cli.text.output import console, write_file
from maixmem_cli.text.tables import Column, show_table

_COLUMNS = (Column("check", name=True), Column("result"), Column("figures"))


@click.command(name="selftest", epilog="Example: maixmem selftest --port /dev/ttyUSB0 --json FILE")
@PORT
@click.option("--quick", is_flag=True, help="Only the heap and the models in flash, no tests.")
@click.option(
    "--json", "file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Also write what came of it, to send with an issue.",
)  # fmt: skip
@VERBOSE
@click.argument("names", nargs=-1, metavar="[NAME...]")
def command(port: str | None, quick: bool, file: Path | None, names: tuple[str, ...]) -> None:
    """Run the library's own tests on a board and hold its forecasts against what happens there.

    Brings the library and its tests where they are missing, and removes them again. Resets
    the interpreter, interrupts the program that runs; a model in flash is loaded and freed where
    the forecast is that it will succeed. With NAME only the tests of files named like it. Exit
    status: 0 all is as foretold, 1 it is not, 2 no board.
    """
    with board_errors(ValueError):
        board = board_at(port)
        try:
            visit = Selftest(board)
            try:
                visit.run(quick, names)
            finally:
                show(visit, file)
        finally:
            board.close()
    sys.exit(1 if FAULT in [result for _, result, _ in visit.rows] else 0)


def show(visit: Selftest, file: Path | None) -> None:
    """The table, and the file where one is wanted."""
    if not visit.rows:  # an error says why
        return
    out = console()
    out.print(f"maixmem {__version__} on {visit.who}, {visit.who.build}", markup=False)
    show_table(out, _COLUMNS, [(row, "bold" if row[1] == FAULT else "") for row in visit.rows])
    if file:
        rows = [list(row) for row in visit.rows]
        write_file("--json", file, json.dumps({**visit.results, "table": rows}, indent=1) + "\n")
