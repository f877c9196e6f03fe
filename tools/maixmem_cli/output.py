# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How the commands fail, print and write files, and how those that talk to a board choose a
port."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from maixmem_cli import rawrepl
from maixmem_cli.needs import require
from maixmem_cli.rawrepl import BoardError

PORT = click.option(
    "--port",
    "-p",
    metavar="PORT",
    help="Serial port, pty or socket://HOST:PORT; default $MAIXMEM_PORT or the only USB one.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _show_sent(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    def show(code: str) -> None:
        for line in printable_lines(code):
            click.echo(f"> {line}", err=True)

    rawrepl.show_sent = show if value else None


VERBOSE = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_show_sent,
    help="Show on stderr what is sent to the board.",
)


class NoBoard(click.ClickException):
    """No board at the port: wrong use, exit status 2."""

    exit_code = 2


def choose_port(port: str | None) -> str:
    """The port given, $MAIXMEM_PORT, or the only USB serial port of this machine."""
    port = port or os.environ.get("MAIXMEM_PORT")
    if port:
        return port
    found = [p.device for p in require("serial.tools.list_ports").comports() if p.vid is not None]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(found)
        text = (
            f"--port: several USB serial ports: {names}. Next: give the one of the board, as "
            f"--port {found[0]}"
        )
    else:
        text = (
            "--port: no USB serial port found. Next: cable and driver of its USB chip, see "
            "maixmem ports; or --port PORT"
        )
    raise NoBoard(text)


@contextlib.contextmanager
def board_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Makes what a board does wrong, and these, an error of the command: exit status 1."""
    caught: tuple[type[Exception], ...] = (*kinds, BoardError)
    try:
        yield
    except caught as e:
        raise click.ClickException(str(e)) from e


def end(error: click.ClickException, as_json: bool) -> None:
    """Says in one line why a command ends: on stderr, or as {"error": ...} on stdout."""
    text = printable(" ".join(error.format_message().split("\n")))
    context = getattr(error, "ctx", None)
    if context and "Next: " not in text:
        text = f"{text.rstrip('.')}. Next: {context.command_path} --help"
    if as_json:
        print_json({"error": text})
    else:
        click.echo(f"maixmem: {text}", err=True)


def any_encoding() -> None:
    """Lets every text be printed: letters that the terminal does not have are escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_json(data: Any) -> None:
    """The one JSON value of a command."""
    click.echo(json.dumps(data, indent=2, sort_keys=True))


def printable(text: str) -> str:
    """Text of a stranger that is safe on a terminal and in XML."""
    return "".join(c if c.isprintable() else "?" for c in text)


def printable_lines(code: str, width: int = 160) -> list[str]:
    """Lines of a script, long ones cut."""
    lines = [printable(line) for line in code.splitlines() if line.strip()]
    return [line if len(line) <= width else f"{line[:width]}... ({len(line)})" for line in lines]


def console(**more: Any) -> Console:
    """A console that leaves :names: as they are."""
    return Console(emoji=False, highlight=False, **more)


def write_file(option: str, path: Path, data: str | bytes) -> None:
    """Writes a file that an option names; when it cannot be written, that is wrong use."""
    try:
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    except OSError as e:
        raise click.BadParameter(
            f"{path} cannot be written: {e.strerror}. Next: a file in a folder that is "
            "there, and yours.",
            param_hint=option,
        ) from e


def unreadable(error: OSError, path: Path) -> str:
    """Why a file could not be read, and what to do, without a line end."""
    name = error.filename or path
    cure = {
        errno.ENOENT: "check its name; it is looked for from the folder where the command runs",
        errno.EACCES: f"chmod +r {name}, or another user",
        errno.EPERM: f"chmod +r {name}, or another user",
        errno.EISDIR: "give a file, not a folder",
    }.get(error.errno or 0, "copy it anew: its disk or link does not give it back")
    return f"{name}: cannot be read: {error.strerror or error}. Next: {cure}"
