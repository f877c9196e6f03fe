# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem deploy`: the right files for the board that is there, checked there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import click
from maixmem_report import kib
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from maixmem_cli.commands.options import PORT, VERBOSE, board_errors, choose_port
from maixmem_cli.emulator.connect import connect
from maixmem_cli.library import bytecode, forms, modules
from maixmem_cli.serial import drive
from maixmem_cli.serial.identity import Identity, identity
from maixmem_cli.serial.repl import BoardError, ConnectionLost, RawRepl
from maixmem_cli.serial.transfer import Transfer, TransferError, cut
from maixmem_cli.serial.visit import ask
from maixmem_cli.text.needs import WrongUse
from maixmem_cli.text.output import JSON, console, print_json

_IMPORTS = 180  # seconds in which a board has imported all; it compiles sources
_RESET = 10  # seconds that a board has to be back after a soft reset

Progressing = Callable[[str, int], None]


@contextlib.contextmanager
def progress_bar(files: dict[str, bytes], quiet: bool) -> Iterator[Progressing]:
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


def select(platform: str, names: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return modules.select(platform, names)
    except ValueError as e:
        raise click.BadParameter(str(e), param_hint="--modules") from e


@dataclass
class Plan:
    """What a board is to get: full names on the board, and what has to go once they are there."""

    who: Identity
    folder: str
    names: tuple[str, ...]
    version: int | None
    files: dict[str, bytes]
    stale: tuple[str, ...]
    unknown: list[str]  # files there with a name of ours that no module of this version has


def plan(board: RawRepl, names: tuple[str, ...], target: str | None, sources: bool) -> Plan | None:
    """Asks the board and decides; None for CircuitPython whose files are those of a USB drive,
    which only the desk can write. Where its boot.py has taken them back, they are the board's."""
    who = identity(board)
    compiler = ""
    if who.kind == "circuitpython":
        if not ask(board, "files", "writes"):
            return None
        compiler = bytecode.circuitpython_compiler(who.bytecode)
    folder = (target or who.target).rstrip("/")
    chosen = select(modules.platform_of(who.port), names)
    _make(board, folder)
    version = None if sources else forms.accepted(board, who, folder)
    made = forms.contents(chosen, version, compiler)
    files = {f"{folder}/{name}": data for name, data in made.items()}
    twin = "mpy" if version is None else "py"  # a .py hides the .mpy of the same name
    stale = tuple(f"{folder}/{n}.{twin}" for n in chosen)
    stale += (f"{folder}/{forms.PROBE}.mpy",)
    return Plan(who, folder, chosen, version, files, stale, _unknown(board, folder or "/"))


def to_board(
    port: str,
    names: tuple[str, ...],
    *,
    target: str | None,
    sources: bool,
    patience: float,
    quiet: bool,
) -> dict[str, Any]:
    """The whole of deploy for a board at a serial port; what was done, as plain data."""
    with _cut("Nothing was changed on the board."), first(port) as board:
        p = plan(board, names, target, sources)
    if p is None:
        return to_drive(_only_drive(), names, quiet)
    with progress_bar(p.files, quiet) as progress:
        result = Transfer(lambda: connect(port), p.files, p.stale, patience).run(progress)
    with (
        _cut("The new files are in their places; importing was not tried."),
        connect(port) as board,
    ):
        free, after, failed, elsewhere = ask(
            *(board, "imports", "try_all", p.names, p.folder or "/"),
            doing="importing the modules",
            timeout=_IMPORTS,
        )
        with contextlib.suppress(BoardError):  # what was imported to try it goes: doctor counts it
            board.soft_reset(_RESET)
    return {
        "board": str(p.who),
        "kind": p.who.kind,
        "target": p.folder or "/",
        "bytecode": p.version,
        "bytes": sum(map(len, p.files.values())),
        "copied": result.copied,
        "same": result.same,
        "removed": result.removed,
        "checked_by": result.algorithm,
        "free_before": free,
        "free_after": after,
        "findings": _findings(failed, elsewhere),
        "notes": _notes(p),
    }


def _unknown(board: RawRepl, folder: str) -> list[str]:
    found = ask(board, "files", "listing", folder, doing=f"listing {folder}")
    known = {f"{m}.{form}" for m in modules.every() for form in ("py", "mpy")}
    ours = {n for n in found if n.startswith("maixmem") and n.endswith((".py", ".mpy"))}
    return sorted(ours - known)


def _notes(p: Plan) -> list[str]:
    """What to know of the folder, and before the modules are found at the prompt."""
    notes = (
        [forms.sources_cost(p.files)] if p.who.kind == "circuitpython" and not p.version else []
    )
    notes += [
        f"{p.folder}/{name} belongs to no module of this version. Next: remove it, "
        "unless it is yours"
        for name in p.unknown
    ]
    if p.who.kind != "maixpy" or p.folder == p.who.folder:
        return notes
    text = (
        f"MaixPy looks for modules in its working folder only, which is {p.who.folder} now. "
        "Next: begin your program"
    )
    notes.append(f"{text} with import os; os.chdir({p.folder!r}), or deploy without --target")
    return notes


def remove(port: str, target: str | None) -> dict[str, Any]:
    """Takes the library off a board; what was removed, as plain data."""
    with first(port) as board:
        who = identity(board)
        folder = (target or who.target).rstrip("/") or "/"
        names = [f"{m}.{form}" for m in modules.every() for form in ("py", "mpy")]
        names += [f"{n}~" for n in names]
        there = ask(board, "files", "listing", folder, doing=f"listing {folder}")
        ours = [f"{folder.rstrip('/')}/{n}" for n in names if n in there]
        found = ask(board, "files", "remove", ours, doing=f"removing from {folder}")
        gone = [n.rpartition("/")[2] for n in found]
    return {"board": str(who), "target": folder, "removed": sorted(gone)}


@contextlib.contextmanager
def _cut(state: str) -> Iterator[None]:
    """Says what is on the board, and what to do, when the connection breaks outside of the
    transfer."""
    try:
        yield
    except ConnectionLost as e:
        raise TransferError(cut(e, state)) from e


def first(port: str) -> RawRepl:
    """The first connection: when there is none the port is wrong."""
    try:
        return connect(port)
    except ConnectionLost as e:
        text = str(e)
        more = "" if "Next: " in text else ". Next: is it the right port, does the board run?"
        raise WrongUse(f"--port {text}{more}") from e


def _make(board: RawRepl, folder: str) -> None:
    if folder:
        try:
            ask(board, "files", "make", folder, doing=f"making {folder}")
        except ConnectionLost:
            raise
        except BoardError as e:
            raise click.BadParameter(
                f"{folder} is not on the board and cannot be made: {e}", param_hint="--target"
            ) from e


def _findings(failed: list[tuple[str, str]], elsewhere: list[tuple[str, str]]) -> list[str]:
    found = [
        f"import {name} fails on the board: {error}. Next: reset the board, then maixmem doctor"
        for name, error in failed
    ]
    found += [
        f"{name} comes from {path}, not from what was copied. Next: remove that file"
        for name, path in elsewhere
    ]
    return found


def _only_drive() -> Path:
    found = drive.find()
    if len(found) != 1:
        what = (
            f"several drives: {', '.join(map(str, found))}"
            if found
            else "no mounted CIRCUITPY drive found"
        )
        raise WrongUse(
            f"--target: this is CircuitPython, files go to its drive; {what}. Next: "
            "--target /path/to/CIRCUITPY"
        )
    return found[0]


def to_drive(place: Path, names: tuple[str, ...], quiet: bool) -> dict[str, Any]:
    """The whole of deploy for CircuitPython: sources to the drive, read back."""
    files = forms.contents(select("generic", names), None)
    if not quiet:
        click.echo(forms.sources_cost(files), err=True)
    with progress_bar(files, quiet) as progress:
        try:
            copied, same = drive.copy(place, files, progress)
        except OSError as e:
            raise TransferError(
                f"{e}. That file and those after it are the old ones. Next: free the "
                "drive, run this again."
            ) from e
    return {
        "board": f"CircuitPython drive {place}",
        "kind": "circuitpython",
        "target": str(place / "lib"),
        "bytecode": None,
        "bytes": sum(map(len, files.values())),
        "copied": copied,
        "same": same,
        "removed": [],
        "checked_by": "reading back",
        "free_before": None,
        "free_after": None,
        "findings": [],
        "notes": [],
    }


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
    board. A cut transfer is repeated; it leaves the old files until all new ones are there. Exit
    status: 1 not done or findings, 2 no board.
    """
    wanted = tuple(n.strip() for n in names.split(",") if n.strip())
    with board_errors(TransferError, bytecode.CompileError):
        if removing:
            done = remove(choose_port(port), target)
            print_json(done) if as_json else click.echo(
                f"{done['board']}: {len(done['removed'])} files removed from {done['target']}"
            )
            return
        if target and drive.is_drive(Path(target)):
            done = to_drive(Path(target), wanted, as_json)
        else:
            done = to_board(
                choose_port(port),
                wanted,
                target=target,
                sources=source,
                patience=wait,
                quiet=as_json,
            )
    print_json(done) if as_json else show(done)
    raise SystemExit(1 if done["findings"] else 0)
