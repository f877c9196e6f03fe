# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Checks of the values in a PROJECT.toml: each gives the value, or ValueError or TypeError that
says what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from k210_model.frame_sizes import SIZES
from maixmem_k210_chip import FLASH_SIZE, RAM

from maixmem_cli.firmware.builds import FIRMWARES, Firmware, FirmwareError, choose
from maixmem_cli.text.numbers import parse_size

_MOST = RAM // 64  # images of a pool: each takes 64 bytes beside its pixels


def firmware(value: Any, folder: Path) -> Firmware:
    if not isinstance(value, str):
        raise ValueError(f"known are {', '.join(FIRMWARES)}, or a file")
    try:
        return choose(value, folder).measured()
    except FirmwareError as e:
        raise ValueError(str(e)) from None


def folder(value: Any, beside: Path) -> Path:
    """A folder that exists."""
    if isinstance(value, str) and (beside / value).is_dir():
        return beside / value
    raise ValueError("no such folder")


def frame(value: Any, firmware: Firmware) -> str:
    there = [name for name in SIZES if firmware.sizes is None or name in firmware.sizes]
    if isinstance(value, str) and value in there:
        return value
    hint = ""
    if isinstance(value, list) and len(value) == 2:
        hint = next_larger(value, there)
    raise ValueError(f"MaixPy has the frame sizes {', '.join(there)}{hint}")


def next_larger(value: list[Any], there: list[str]) -> str:
    """What to write for a window that somebody gave as a size."""
    if not all(type(n) is int and n > 0 for n in value):
        return ""
    w, h = value
    fit = [n for n in there if SIZES[n][0] >= w and SIZES[n][1] >= h]
    if not fit:
        return ""
    name = min(fit, key=lambda n: SIZES[n][0] * SIZES[n][1])
    same = SIZES[name] == (w, h)
    return f'; size = "{name}"' + ("" if same else f" and windowing = [{w}, {h}]")


def one_of(names: Any) -> Any:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            raise ValueError(f"known are {', '.join(names)}")
        return value

    return check


def nbytes(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TypeError("bytes, as 524288 or '512K'")
    n = value if isinstance(value, int) else parse_size(value)
    if n < 0:
        raise ValueError("not below 0")
    return n


def size(value: Any) -> tuple[int, int]:
    if isinstance(value, str) and value in SIZES:
        return SIZES[value]
    pair = isinstance(value, list) and len(value) == 2
    if not pair or not all(type(n) is int and 0 < n <= 4096 for n in value):
        raise ValueError("[width, height], 1 to 4096 each, or a frame size as QVGA")
    return value[0], value[1]


def address(value: Any) -> int:
    n = nbytes(value)
    if not 0 < n < FLASH_SIZE:
        raise ValueError(f"an address above 0 and below {FLASH_SIZE:#x}")
    return n


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
        raise ValueError(f"a number from 1 to {_MOST}, more do not go into 6 MiB")
    return value


def text(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or not value:
        raise TypeError("a text of printable characters")
    return value


def path(value: Any) -> str:
    folder, slash, name = text(value)[1:].partition("/")
    if value[0] != "/" or folder not in ("flash", "sd") or not name or name.endswith("/"):
        raise ValueError("the name of a file as the board has it: /sd/NAME or /flash/NAME")
    if folder == "flash" and "/" in name:
        raise ValueError("/flash has no folders: /flash/NAME")
    return value


def some_bytes(value: Any) -> int:
    n = nbytes(value)
    if not n:
        raise ValueError("above 0")
    return n


def some_of(names: Sequence[str], more: Sequence[str]) -> Any:
    """A check of a list: some of the names, in any order, each once at most; `more` are not listed
    for people."""

    def check(value: Any) -> tuple[str, ...]:
        texts = isinstance(value, list) and all(isinstance(v, str) for v in value)
        if not texts or len(set(value)) < len(value) or not set(value) <= {*names, *more}:
            raise ValueError(f"each of {', '.join(names)} once at most")
        return tuple(value)

    return check
