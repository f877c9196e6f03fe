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
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "kits"), str(HERE.parent.parent / "tools")]

import click  # noqa: E402
import device_suite  # noqa: E402
import paths  # noqa: E402
from maixmem_cli.emulator.connect import open_board  # noqa: E402
from maixmem_cli.library import bytecode, modules  # noqa: E402
from maixmem_cli.library.forms import accepted, contents  # noqa: E402
from maixmem_cli.serial import visit  # noqa: E402
from maixmem_cli.serial.identity import Identity, identity  # noqa: E402
from maixmem_cli.serial.repl import BoardError, RawRepl  # noqa: E402
from maixmem_cli.text.numbers import parse_size  # noqa: E402

LINE_SECONDS = 600  # without a line from the board: a loaded desk runs an emulated one slowly
HELPERS = (paths.DEVICE / "devtest.py",)


@dataclass(frozen=True)
class Target:
    """What goes where: `bytecode` is that of the library, None for sources."""

    who: Identity
    bytecode: int | None
    models: tuple[int, ...]

    @property
    def is_k210(self) -> bool:
        return self.who.kind == "maixpy"

    @property
    def folder(self) -> str:
        return "/flash" if self.is_k210 else self.who.target.rstrip("/")

    def files(self) -> dict[str, bytes]:
        """{name: bytes} of the library and the tests' helpers."""
        names = modules.modules("k210" if self.is_k210 else "generic")
        helpers = (*HELPERS, paths.KITS / "kmodel_build.py") if self.is_k210 else HELPERS
        compiler = ""
        if self.who.kind == "circuitpython":
            compiler = bytecode.circuitpython_compiler(self.bytecode)
        found = contents(names, self.bytecode, compiler)
        found.update({p.name: p.read_bytes() for p in helpers})
        found["board_models.py"] = f"MODELS = {self.models!r}\n".encode()
        return found


def copy(board: RawRepl, target: Target) -> None:
    """Puts the library and the helpers on the board, without leftovers of the other form."""
    files = target.files()
    stale = "py" if target.bytecode else "mpy"
    names = [f"{name.rpartition('.')[0]}.{stale}" for name in files if name not in HELPERS]
    if target.folder:
        visit.ask(board, "files", "make", target.folder)
    visit.ask(board, "files", "remove", [f"{target.folder}/{name}" for name in names])
    for name, data in files.items():
        board.write_file(f"{target.folder}/{name}", data)


def fresh(board: RawRepl, who: Identity) -> None:
    """A new interpreter. CircuitPython waits for a key after its Ctrl-D."""
    if who.kind == "circuitpython":
        board.reload()
    else:
        board.soft_reset()


def run_suite(
    board: RawRepl, target: Target, suite: device_suite.Suite
) -> dict[str, tuple[str, str]]:
    """Copies one test file, runs it in a fresh interpreter, removes it. A hung board is a failure
    of the last test."""
    name = f"{target.folder}/{suite.path.name}"
    board.write_file(name, suite.path.read_bytes())
    fresh(board, target.who)
    out, error = board.run(suite.main(), timeout=LINE_SECONDS)
    visit.ask(board, "files", "remove", [name])
    found = device_suite.results(out)
    for test in suite.tests:
        if test not in found:
            found[test] = ("FAIL", error or "did not run: " + out[-500:])
    return found


def chosen(target: Target, names: tuple[str, ...]) -> list[device_suite.Suite]:
    """The test files that the board can run, of those that are wanted."""
    can = [s for s in device_suite.suites() if s.portable or (target.is_k210 and not s.needs)]
    found = [s for s in can if not names or any(n in s.module for n in names)]
    if not found:
        raise click.UsageError(f"no device test that this board can run is named like {names}")
    return found


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
            wanted = chosen(target, names)
            if not keep:
                copy(board, target)
            for suite in wanted:
                for test, (kind, text) in run_suite(board, target, suite).items():
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
