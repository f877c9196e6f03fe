# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem ports`: the serial ports of this machine, and which may be a board."""

from __future__ import annotations

import sys
from typing import Any

import click

from maixmem_cli.text.needs import require
from maixmem_cli.text.output import JSON, console, print_json
from maixmem_cli.text.tables import Column, show_table

#: USB vendor -> the maker of the chip
_CHIPS = {
    0x1A86: "CH340, CH55x",
    0x0403: "FTDI",
    0x10C4: "CP210x",
    0x303A: "Espressif",
    0x2E8A: "Raspberry Pi",
    0x239A: "Adafruit",
    0x0525: "USB gadget",
}
_COLUMNS = (Column("port", name=True), Column("USB id"), Column("chip"), Column("what it says"))


def listed() -> list[dict[str, Any]]:
    """The ports, USB ones first."""
    found = [
        {
            "port": p.device,
            "usb": f"{p.vid:04x}:{p.pid:04x}" if p.vid is not None else None,
            "chip": _CHIPS.get(p.vid),
            "description": p.description,
        }
        for p in require("serial.tools.list_ports").comports()
    ]
    return sorted(found, key=lambda p: (p["usb"] is None, p["port"]))


@click.command(name="ports", epilog="Example: maixmem ports")
@JSON
def command(as_json: bool) -> None:
    """List the serial ports of this machine: what --port takes.

    Exit status: 0, or 1 when there is none.
    """
    found = listed()
    if as_json:
        print_json(found)
    elif found:
        rows = [
            ([p["port"], p["usb"] or "-", p["chip"] or "-", p["description"] or ""], "")
            for p in found
        ]
        show_table(console(), _COLUMNS, rows)
    else:
        click.echo(
            "no serial port. Next: plug the board in; no port then: the cable, or the "
            "driver of its USB chip"
        )
    sys.exit(0 if found else 1)
