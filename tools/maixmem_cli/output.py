# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How the commands fail, print and write files, and how those that talk to a board choose a port."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from maixmem_cli.needs import need
from maixmem_cli.rawrepl import BoardError

PORT = click.option(
    "--port",
    "-p",
    metavar="PORT",
    help="Serial port, pty or socket://HOST:PORT; default $MAIXMEM_PORT or the only USB one.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class NoBoard(click.ClickException):
    """No board at the port: wrong use, exit status 2."""

    exit_code = 2


def choose_port(port: str | None) -> str:
    """The port given, $MAIXMEM_PORT, or the only USB serial port of this machine."""
    port = port or os.environ.get("MAIXMEM_PORT")
    if port:
        return port
    found = [p.device for p in need("serial.tools.list_ports").comports() if p.vid is not None]
    if len(found) == 1:
        return found[0]
    what = f"several USB serial ports: {', '.join(found)}" if found else "no USB serial port found"
    raise NoBoard(
        f"--port: {what}. Next: give the one of the board, as --port {found[0] if found else '/dev/ttyUSB0'}"
    )


@contextlib.contextmanager
def failing(*kinds: type[Exception]) -> Iterator[None]:
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


def print_json(data: Any) -> None:
    """The one JSON value of a command."""
    click.echo(json.dumps(data, indent=2, sort_keys=True))


def printable(text: str) -> str:
    """Text of a stranger that is safe on a terminal and in XML."""
    return "".join(c if c.isprintable() else "?" for c in text)


def console(**more: Any) -> Console:
    """A console that leaves :names: as they are."""
    return Console(emoji=False, **more)


def write_file(option: str, path: Path, data: str | bytes) -> None:
    """Writes a file that an option names; when it cannot be written, that is wrong use."""
    try:
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    except OSError as e:
        raise click.BadParameter(
            f"{path} cannot be written: {e.strerror}. Next: a file in a folder that is there, and yours.",
            param_hint=option,
        ) from e


def unreadable(error: OSError, path: Path) -> str:
    """Why a file could not be read, and what to do, without a line end."""
    name = error.filename or path
    return f"{name}: cannot be read: {error.strerror or error}. Next: check the file and its permissions."
