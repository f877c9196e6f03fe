# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem ports`: the serial ports that may be a board, and what to do where there is none."""

from __future__ import annotations

import sys
from typing import Any

import click

from maixmem_cli.serial.listing import listed
from maixmem_cli.serial.port import driver, why_closed
from maixmem_cli.text.output import JSON, console, print_json
from maixmem_cli.text.tables import Column, show_table

_COLUMNS = (Column("port", name=True), Column("USB id"), Column("chip"), Column("what it says"))


@click.command(name="ports", epilog="Example: maixmem ports")
@JSON
def command(as_json: bool) -> None:
    """List the serial ports of this machine that are USB: what --port takes.

    A port that is not USB is a board only where you wired one to it; --json has those too. Exit
    status: 0, or 1 when there is none that is USB.
    """
    found = listed()
    usb = [p for p in found if p["usb"]]
    if as_json:
        print_json(found)
    elif usb:
        rows = [([p["port"], p["usb"], p["chip"] or "-", p["description"] or ""], "") for p in usb]
        show_table(console(), _COLUMNS, rows)
        for p in usb:
            if why := why_closed(p["port"]):
                click.echo(f"{p['port']}: {why}")
    else:
        _help(found)
    sys.exit(0 if usb else 1)


def _help(others: list[dict[str, Any]]) -> None:
    """What to do where no port is a board's."""
    click.echo("no USB serial port: no board is connected, or this machine does not see it. Next:")
    steps = (
        "plug the board in, by a cable that carries data: many only charge",
        driver(),
        "no board at hand: --port emu:maixpy.bin is one in software, with your firmware image",
    )
    for i, step in enumerate(steps, 1):
        click.echo(f"{i}. {step}")
    if others:
        names = ", ".join(p["port"] for p in others)
        click.echo(f"Not USB, so a board only where you wired one: {names}")
