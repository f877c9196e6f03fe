# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How the commands that talk to a board choose a port, fail, and print."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import click

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
def failing(as_json: bool, *kinds: type[Exception]) -> Iterator[None]:
    """Ends the command with one line on stderr, or {"error": ...} on stdout, when one of these is raised."""
    caught: tuple[type[Exception], ...] = (*kinds, BoardError, click.ClickException)
    try:
        yield
    except caught as e:
        status = e.exit_code if isinstance(e, click.ClickException) else 1
        text = e.format_message() if isinstance(e, click.ClickException) else str(e)
        if as_json:
            click.echo(json.dumps({"error": text}))
        else:
            click.echo(f"maixmem: {text}", err=True)
        sys.exit(status)


def print_json(data: Any) -> None:
    click.echo(json.dumps(data, indent=2, sort_keys=True))
