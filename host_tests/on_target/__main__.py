# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The device tests on a board.

    python host_tests/on_target --board /dev/ttyUSB0 [--mpy] [--model ADDR]... [NAME...]

PORT is a serial port, a pty or socket://host:port. Copies lib/ and the tests to the board, runs
every device test file that it can run (or those whose name contains NAME), prints one line per
test. A board that is no K210 runs the files that have nothing to do with one; under CircuitPython
its boot.py has to make the files writable. Exit status 0 all passed, 1 failures, 2 wrong use or no
board.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "lib"), str(HERE.parents[1] / "tools")]

import click  # noqa: E402
from maixmem_cli.emulator.connect import open_board  # noqa: E402
from maixmem_cli.library.board_tests import Target, run_suite  # noqa: E402
from maixmem_cli.library.forms import accepted  # noqa: E402
from maixmem_cli.serial import visit  # noqa: E402
from maixmem_cli.serial.identity import identity  # noqa: E402
from maixmem_cli.serial.repl import BoardError, RawRepl  # noqa: E402
from maixmem_cli.text.numbers import parse_size  # noqa: E402


def copy(board: RawRepl, target: Target) -> None:
    """Puts the library and the helpers on the board, without leftovers of the other form."""
    if target.folder:
        visit.ask(board, "files", "make", target.folder)
    visit.ask(board, "files", "remove", target.twins())
    for name, data in {**target.library(), **target.helpers()}.items():
        board.write_file(name, data)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--board",
    "port",
    required=True,
    metavar="PORT",
    help="Serial port, pty or socket://host:port.",
)
@click.option("--mpy", is_flag=True, help="Copy bytecode instead of sources.")
@click.option(
    "--model",
    multiple=True,
    metavar="ADDR",
    help="A model in the board's flash, for tests that switch.",
)
@click.option("--keep", is_flag=True, help="Do not copy the library again.")
@click.argument("names", nargs=-1)
def main(port: str, mpy: bool, model: tuple[str, ...], keep: bool, names: tuple[str, ...]) -> None:
    """Run the device tests on a board."""
    counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    start = time.monotonic()
    try:
        with open_board(port) as board:
            who = identity(board)
            click.echo(str(who))
            version = (
                accepted(board, who, "/flash" if who.kind == "maixpy" else "") if mpy else None
            )
            target = Target(who, version, tuple(parse_size(m) for m in model))
            wanted = target.chosen(names)
            if not keep:
                copy(board, target)
            for suite in wanted:
                for test, (kind, text) in run_suite(board, target, suite).items():
                    counts[kind] += 1
                    click.echo(f"{kind} {suite.module} {test} {text}".rstrip())
    except (BoardError, ValueError) as e:
        click.echo(f"on_target: {e}", err=True)
        sys.exit(2)
    took = time.monotonic() - start
    click.echo(
        f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped in "
        f"{took:.0f} s"
    )
    sys.exit(1 if counts["FAIL"] else 0)


if __name__ == "__main__":
    main()
