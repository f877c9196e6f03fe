# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Puts the library on a board and takes it off: which files, in which form, checked there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from maixmem_cli.emulator.connect import connect
from maixmem_cli.library import bytecode, forms, modules
from maixmem_cli.serial import drive
from maixmem_cli.serial.identity import Identity, identity
from maixmem_cli.serial.repl import BoardError, ConnectionLost, RawRepl
from maixmem_cli.serial.transfer import Transfer, TransferError, cut
from maixmem_cli.serial.visit import ask
from maixmem_cli.text.needs import WrongUse

_IMPORTS = 180  # seconds in which a board has imported all; it compiles sources
_RESET = 10  # seconds that a board has to be back after a soft reset

#: a bar over these files, as a with block; its value is called with (name, bytes of it written)
Progressing = Callable[[dict[str, bytes]], AbstractContextManager[Callable[[str, int], None]]]


def select(platform: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The modules for a platform: all, or those named and what they need."""
    try:
        return modules.select(platform, names)
    except ValueError as e:
        raise WrongUse(f"--modules: {e}. Next: name some of these") from e


@dataclass
class Plan:
    """What a board is to get: full names on the board, and what is removed once they are in
    place."""

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
    progressing: Progressing,
) -> dict[str, Any]:
    """The whole of deploy for a board at a serial port; what was done, as plain data."""
    with _cut("Nothing was changed on the board."), first(port) as board:
        p = plan(board, names, target, sources)
    if p is None:
        return to_drive(_only_drive(), names, progressing)
    with progressing(p.files) as progress:
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
            raise WrongUse(
                f"--target: {folder} is not on the board and cannot be created: {e}. Next: "
                "a folder that is there, /flash or /sd"
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


def to_drive(place: Path, names: tuple[str, ...], progressing: Progressing) -> dict[str, Any]:
    """The whole of deploy for CircuitPython: sources to the drive, read back."""
    files = forms.contents(select("generic", names), None)
    with progressing(files) as progress:
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
        "notes": [forms.sources_cost(files)],
    }
