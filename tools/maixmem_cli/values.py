# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Values on the command line: sizes (512K, 0x80000), flash addresses, files at addresses, firmware
names."""

from __future__ import annotations

import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
from maixmem_k210_chip import FLASH_SIZE

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}


def parse_size(text: str) -> int:
    """Bytes from 4096, 0x1000, 512K, 1.5M, 16MiB. ValueError says what is accepted."""
    match = re.fullmatch(
        r"(0x[0-9a-f]+|\d+(?:\.\d+)?)\s*([km]?)(?:i?b)?", text.strip(), re.IGNORECASE
    )
    if not match:
        raise ValueError(f"{text!r} is not a size: use 4096, 0x1000, 512K or 16M")
    number, unit = match[1], _UNITS[match[2].upper()]
    value = int(number, 16) if number.lower().startswith("0x") else Fraction(number)
    if (value * unit).denominator != 1:
        raise ValueError(f"{text!r} is not a size: {number} of {unit} bytes is no whole number")
    return int(value * unit)


def hexa(n: int) -> str:
    """A flash address as it is written: 0x300000."""
    return f"0x{n:06x}"


def parse_address(text: str) -> int:
    """A flash address, written as a size is: 0x300000, 3145728 or 3M. ValueError says what is
    wrong with it."""
    if text.strip().startswith("-"):
        raise ValueError(f"{text!r}: an address is not negative; write 0x300000 or 3M")
    try:
        return parse_size(text)
    except ValueError:
        raise ValueError(f"{text!r} is not an address; write 0x300000 or 3M") from None


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
        from maixmem_cli.firmwares import FirmwareError, choose

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
    from maixmem_cli.firmwares import FIRMWARES

    if value is not None and value not in FIRMWARES:
        raise click.BadParameter(
            f"unknown firmware {value!r}; known: {', '.join(FIRMWARES)}", ctx, param
        )
    return value
