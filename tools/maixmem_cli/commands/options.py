# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Options that several commands have: sizes, files at addresses, firmware, and the port of a
board."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from maixmem_k210_chip import FLASH_SIZE

from maixmem_cli.emulator.connect import connect
from maixmem_cli.serial import repl
from maixmem_cli.serial.repl import BoardError
from maixmem_cli.text.needs import WrongUse, require
from maixmem_cli.text.numbers import parse_address, parse_size
from maixmem_cli.text.output import printable_lines

PORT = click.option(
    "--port",
    "-p",
    metavar="PORT",
    help="Serial port, pty, socket://HOST:PORT, or emu:IMAGE, a board in software with that "
    "firmware; default $MAIXMEM_PORT or the only USB port.",
)


def _show_sent(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    def show(code: str) -> None:
        for line in printable_lines(code):
            click.echo(f"> {line}", err=True)

    repl.show_sent = show if value else None


VERBOSE = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_show_sent,
    help="Show on stderr what is sent to the board.",
)


def board_at(port: str | None) -> repl.RawRepl:
    """The board at the port of choose_port(). WrongUse where it cannot be opened."""
    try:
        return connect(choose_port(port))
    except repl.ConnectionLost as e:
        raise WrongUse(f"--port {e}") from e


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
            "--port: no USB serial port found. Next: maixmem ports says what to try; or --port "
            "PORT, or without a board --port emu:maixpy.bin"
        )
    raise WrongUse(text)


@contextlib.contextmanager
def board_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Makes what a board does wrong, and these, an error of the command: exit status 1."""
    caught: tuple[type[Exception], ...] = (*kinds, BoardError)
    try:
        yield
    except caught as e:
        raise click.ClickException(str(e)) from e


class _Size(click.ParamType):
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return value if isinstance(value, int) else parse_size(value)
        except ValueError as e:
            self.fail(str(e), param, ctx)


class _AddressFile(click.ParamType):
    """FILE@ADDR, or ADDR=FILE; the address inside 16 MiB, the file there."""

    name = "FILE@ADDR"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, Path]:
        if isinstance(value, tuple):
            return value
        address, _, name = value.partition("=")
        if not name:
            name, _, address = value.rpartition("@")
        try:
            offset = parse_address(address)
        except ValueError as e:
            self.fail(f"{value!r}: {e}, as in model.kmodel@0x300000", param, ctx)
        if not 0 <= offset < FLASH_SIZE:
            self.fail(
                f"{value!r}: address {offset:#x} is outside the flash, 0x0 to {FLASH_SIZE:#x}",
                param,
                ctx,
            )
        path = Path(name)
        if not path.is_file():
            self.fail(f"{name!r}: no such file", param, ctx)
        if not os.access(path, os.R_OK):
            self.fail(f"{name!r}: may not be read", param, ctx)
        if offset + path.stat().st_size > FLASH_SIZE:
            end = offset + path.stat().st_size
            self.fail(
                f"{value!r}: ends at {end:#x}, past the end of the flash {FLASH_SIZE:#x}",
                param,
                ctx,
            )
        return offset, path.resolve()


class _Firmware(click.ParamType):
    """A build by name, an image of one, or the file of a board."""

    name = "firmware"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from maixmem_cli.firmware.builds import FirmwareError, choose

        if not isinstance(value, str):
            return value
        try:
            return choose(value)
        except FirmwareError as e:
            self.fail(str(e), param, ctx)
        except OSError as e:
            self.fail(f"{value}: cannot be read: {e.strerror or e}", param, ctx)


def firmware_option(help: str) -> Any:
    """--firmware, the same for every command that plans for a build."""
    return click.option("--firmware", type=_Firmware(), metavar="NAME|IMAGE|BOARD.toml", help=help)


SIZE = _Size()


ADDRESS_FILE = _AddressFile()


def known_firmwares(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Checks a firmware name against the table."""
    from maixmem_cli.firmware.builds import FIRMWARES

    if value is not None and value not in FIRMWARES:
        raise click.BadParameter(
            f"unknown firmware {value!r}; known: {', '.join(FIRMWARES)}", ctx, param
        )
    return value
