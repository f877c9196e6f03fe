# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The device tests on a board.

    python host_tests/on_target --board /dev/ttyUSB0 [--mpy] [--model ADDR]... [NAME...]

PORT is a serial port, a pty or socket://host:port. Copies lib/ and the tests to /flash, runs every
device test file that a board can run (or those whose name contains NAME), prints one line per
test. Exit status 0 all passed, 1 failures, 2 wrong use or no board.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "kits"), str(HERE.parent.parent / "tools")]

import click  # noqa: E402
import device_suite  # noqa: E402
import paths  # noqa: E402
from maixmem_cli.emulator.connect import open_board  # noqa: E402
from maixmem_cli.library.bytecode import compile_file  # noqa: E402
from maixmem_cli.library.modules import K210  # noqa: E402
from maixmem_cli.serial.repl import BoardError, RawRepl  # noqa: E402
from maixmem_cli.text.numbers import parse_size  # noqa: E402

LINE_SECONDS = 600  # without a line from the board: a loaded desk runs an emulated one slowly
HELPERS = (paths.DEVICE / "devtest.py", paths.KITS / "kmodel_build.py")


def compiled(source: Path) -> bytes:
    """The module as bytecode 4, which MaixPy loads."""
    with tempfile.TemporaryDirectory() as temp:
        return compile_file(source, 4, Path(temp) / "m.mpy").read_bytes()


def copy(board: RawRepl, mpy: bool, models: tuple[int, ...]) -> None:
    """Puts the library and the tests' helpers into /flash, without leftovers of the other form."""
    library = [paths.LIB / f"{name}.py" for name in K210]
    stale = "py" if mpy else "mpy"
    names = [f"{p.stem}.{stale}" for p in library]
    board.check(
        f"import os\nfor n in {names!r}:\n  if n in os.listdir('/flash'): os.remove('/flash/' + n)"
    )
    for p in library:
        data = compiled(p) if mpy else p.read_bytes()
        board.write_file(f"/flash/{p.stem}.{'mpy' if mpy else 'py'}", data)
    for p in HELPERS:
        board.write_file(f"/flash/{p.name}", p.read_bytes())
    board.write_file("/flash/board_models.py", f"MODELS = {tuple(models)!r}\n".encode())


def run_suite(board: RawRepl, suite: device_suite.Suite) -> dict[str, tuple[str, str]]:
    """Copies one test file, runs it in a fresh interpreter, removes it. A hung board is a failure
    of the last test."""
    name = f"/flash/{suite.path.name}"
    board.write_file(name, suite.path.read_bytes())
    board.soft_reset()
    out, error = board.run(suite.main(), timeout=LINE_SECONDS)
    board.check(f"import os\nos.remove({name!r})")
    found = device_suite.results(out)
    for test in suite.tests:
        if test not in found:
            found[test] = ("FAIL", error or "did not run: " + out[-500:])
    return found


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--board",
    "port",
    required=True,
    metavar="PORT",
    help="Serial port, pty or socket://host:port.",
)
@click.option("--mpy", is_flag=True, help="Copy bytecode 4 instead of sources.")
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
    suites = [
        s
        for s in device_suite.suites()
        if not s.needs and (not names or any(n in s.module for n in names))
    ]
    if not suites:
        raise click.UsageError(f"no device test that a board can run is named like {names}")
    counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    start = time.monotonic()
    try:
        with open_board(port) as board:
            click.echo(board.check("import os\nprint(os.uname())").strip())
            if not keep:
                copy(board, mpy, tuple(parse_size(m) for m in model))
            for suite in suites:
                for test, (kind, text) in run_suite(board, suite).items():
                    counts[kind] += 1
                    click.echo(f"{kind} {suite.module} {test} {text}".rstrip())
    except BoardError as e:
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
