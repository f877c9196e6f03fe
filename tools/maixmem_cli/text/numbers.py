# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Values on the command line: sizes (512K, 0x80000), flash addresses, files at addresses, firmware
names."""

from __future__ import annotations

import re
from fractions import Fraction

from maixmem_k210_chip import FLASH_SIZE

#: of a K210's flash where a model can be: below it every firmware lies
MODEL_PLACES = range(8 << 16, FLASH_SIZE)
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
