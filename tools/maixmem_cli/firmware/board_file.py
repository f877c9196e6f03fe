# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""board.toml: what a K210 board says about itself, for plans without it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maixmem_k210_chip import FLASH_SIZE

from maixmem_cli.text import toml

_TEXT = """\
# A K210 board as `maixmem doctor --save` found it: --firmware {name} plans for it. Bytes.
version = "{version}"
machine = "{machine}"
{end}
heap_free = {heap_free}        # system heap at the prompt after a reset
gc_heap = {gc_heap}           # the GC heap that it had then
gc_used = {gc_used}             # of it, by MaixPy itself
v4 = {v4}                 # loads V4 models
lcd = {lcd}                  # system heap that the first lcd.init() takes
frame_sizes = [{frame_sizes}]
"""


@dataclass(frozen=True)
class BoardFile:
    """What a plan needs to know of a board."""

    version: str
    machine: str
    firmware_end: int | None
    heap_free: int
    gc_heap: int
    gc_used: int
    v4: bool
    frame_sizes: tuple[str, ...]
    lcd: int = 0


def text(told: BoardFile, name: str) -> str:
    """The file's contents."""
    sizes = ", ".join(f'"{s}"' for s in told.frame_sizes)
    end = (
        "# firmware_end = 0x...   # this firmware does not let its flash be read: fill it in "
        "if you know it"
    )
    if told.firmware_end:
        end = (
            f"firmware_end = {told.firmware_end:#x}   # the first byte of flash behind the "
            "firmware"
        )
    values = {
        **vars(told),
        "end": end,
        "v4": str(told.v4).lower(),
        "frame_sizes": sizes,
        "name": name,
    }
    return _TEXT.format(**values)


def read(path: Path) -> BoardFile:
    """The board of a file; ValueError names the key that is missing or wrong."""
    data = toml.read(path)
    return BoardFile(
        version=_value(data, "version", str),
        machine=_value(data, "machine", str),
        firmware_end=_number(data, "firmware_end") if "firmware_end" in data else None,
        heap_free=_number(data, "heap_free"),
        gc_heap=_number(data, "gc_heap"),
        gc_used=_number(data, "gc_used"),
        v4=_value(data, "v4", bool),
        frame_sizes=tuple(str(s) for s in _value(data, "frame_sizes", list)),
        lcd=_value(data, "lcd", int) if "lcd" in data else 0,
    )


def _value(data: dict[str, Any], key: str, kind: type) -> Any:
    value = data.get(key)
    if type(value) is not kind:
        raise ValueError(f"{key} = {value!r}: no board file, {key} must be a {kind.__name__}")
    return value


def _number(data: dict[str, Any], key: str) -> int:
    n: int = _value(data, key, int)
    if not 0 < n <= FLASH_SIZE:
        raise ValueError(f"{key} = {n}: not a number of bytes on a K210")
    return n
