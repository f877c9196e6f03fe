# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The 16 MiB of SPI flash as a flasher leaves them: firmware at 0, files at their addresses,
packages."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from pathlib import Path

from maixmem_k210_chip import FLASH_SIZE

from maixmem_cli.flash.kfpkg import PackageError, read_package
from maixmem_cli.flash.other_images import what
from maixmem_cli.text.output import unreadable

HEAD = struct.Struct(
    "<BI"
)  # flag byte and length, before the firmware; its SHA-256 comes after it
_ZIP = b"PK\3\4"  # begins a package
_PROMPT = b"raw REPL; CTRL-B"  # what every MicroPython's raw REPL says


class ImageError(ValueError):
    """A file that cannot go to flash; the text names it, and the next step."""


def boot_image(data: bytes) -> bytes:
    """A firmware as the boot ROM wants it at 0: not encrypted, its length, its bytes, their
    hash."""
    whole = HEAD.pack(0, len(data)) + data
    return whole + hashlib.sha256(whole).digest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise ImageError(unreadable(e, path)) from None


def _with_header(data: bytes) -> bool:
    flag, length = HEAD.unpack_from(data)
    return flag == 0 and length + HEAD.size + 32 == len(data)


def _is_package(path: Path, address: int | None) -> bool:
    """By its name; in the place of a firmware by what it is: a download may have any name."""
    return path.suffix == ".kfpkg" or (address is None and _read(path)[: len(_ZIP)] == _ZIP)


def _pieces(path: Path, address: int | None) -> Iterable[tuple[int, bytes, str]]:
    if _is_package(path, address):
        try:
            members = read_package(path)
        except PackageError as e:
            raise ImageError(f"{path}: {e}. Next: maixmem flash {path}") from None
        for m in members:
            if m.data is None:
                raise ImageError(f"{path}: {m.name}: {m.error}. Next: maixmem flash {path}")
            data = bytes(m.data)
            if m.swapped:
                data = b"".join(data[i : i + 4][::-1] for i in range(0, len(data), 4))
            yield m.address, boot_image(data) if m.sha256_prefix else data, f"{path}:{m.name}"
        return
    data = _read(path)
    if address is None:  # the firmware
        if len(data) < 16:
            raise ImageError(
                f"{path}: {len(data)} bytes are no firmware. Next: give a .bin or .kfpkg "
                "of a release"
            )
        other = what(data)
        if other:
            raise ImageError(
                f"{path}: {other}; the board in software is a K210. Next: a .bin or .kfpkg of a "
                "MaixPy v1 release; for a board of this image on its cable, maixmem heap PORT"
            )
        yield 0, data if _with_header(data) else boot_image(data), str(path)
    else:
        yield address, data, str(path)


def place(chip: bytearray, path: Path, address: int | None) -> None:
    """Puts a file at an address, a package where it says, a firmware (address None) at 0."""
    for at, data, name in _pieces(path, address):
        if at + len(data) > FLASH_SIZE:
            raise ImageError(
                f"{name}: {len(data)} bytes at {at:#08x} end at {at + len(data):#x}, the "
                f"flash at {FLASH_SIZE:#x}."
                " Next: a lower address"
            )
        code = HEAD.unpack_from(chip)[1]
        end = 0 if code == 0xFFFFFFFF else HEAD.size + code + 32  # nothing there yet; its sha256
        if 0 < at < end:
            raise ImageError(
                f"{name}: {at:#08x} lies in the firmware, which ends at {end:#08x}."
                " Next: a higher address"
            )
        chip[at : at + len(data)] = data


def build(firmware: Path, files: Iterable[tuple[int, Path]] = ()) -> bytearray:
    """The chip's bytes. ImageError when a file is unreadable or does not fit."""
    chip = bytearray(b"\xff" * FLASH_SIZE)
    place(chip, firmware, None)
    for address, path in files:
        place(chip, path, address)
    length = HEAD.unpack_from(chip)[1]
    if length in (0, 0xFFFFFFFF):
        raise ImageError(
            f"{firmware}: nothing for address 0 in it. Next: a package that holds a firmware"
        )
    if chip.find(_PROMPT, 0, HEAD.size + length) < 0:
        raise ImageError(
            f"{firmware}: no MicroPython in its {length} bytes. Next: give the whole .bin or "
            ".kfpkg of a MaixPy v1 release"
        )
    return chip
