# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Flash packages (.kfpkg): a zip with flash-list.json beside the files that go to flash.

Reads them as they are found in the wild and never trusts one: nothing is unpacked to disk, every
size is counted while it is decompressed, and a package ends as members, some with an error, or as
one PackageError. Writes only what kflash reads: its list reader wants each address on a line of
its own with a comma after it.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, BinaryIO

from maixmem_k210_chip import FLASH_SIZE, IMAGE_OVERHEAD  # sha256Prefix puts it around a file

from maixmem_cli.text.output import printable

LIST_NAME = "flash-list.json"
LIST_VERSION = "0.1.0"
MAX_LIST = 1 << 20  # bytes of flash-list.json
MAX_ENTRIES = 256  # one for every 64 KiB of the biggest chip
MAX_MEMBER = FLASH_SIZE  # no chip that a K210 boots from is bigger
MAX_TOTAL = 64 << 20  # all members of one package, and the package file itself

# What zipfile and its decompressors raise on damaged, encrypted or exotic members.
_DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    IndexError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
    lzma.LZMAError,
)
_STRING_OR_HEX = re.compile(r'"(?:\\.|[^"\\])*"|0[xX][0-9a-fA-F]+')


class PackageError(ValueError):
    """The package as a whole cannot be used; the text is one line that says why."""


@dataclass(frozen=True)
class Member:
    """One entry of the flash list.

    `data` are the bytes of the file, or None when `error` says why they could not be read.
    `repeat` marks an entry that lists the same file at the same address again: harmless, and not a
    second owner of the bytes.
    """

    name: str
    address: int
    data: bytes | None
    error: str | None
    sha256_prefix: bool
    swapped: bool = False
    repeat: bool = False

    @property
    def nbytes(self) -> int | None:
        """Bytes of flash that the entry owns, or None when the file could not be read."""
        if self.data is None:
            return None
        return len(self.data) + (IMAGE_OVERHEAD if self.sha256_prefix else 0)


def read_package(path: str | os.PathLike[str] | BinaryIO) -> list[Member]:
    """The members in the order of the flash list. Raises PackageError when there is no usable
    list."""
    try:
        if isinstance(path, (str, os.PathLike)) and os.path.getsize(path) > MAX_TOTAL:
            raise PackageError(f"package file is bigger than {MAX_TOTAL} bytes")
        with zipfile.ZipFile(path) as archive:
            return _members(archive, _entries(_list_text(archive)))
    except PackageError:
        raise
    except FileNotFoundError:
        raise PackageError("no such file") from None
    except _DAMAGE as e:
        raise PackageError(f"not a readable zip: {_one_line(e)}") from None


def write_package(path: str | os.PathLike[str] | BinaryIO, members: Iterable[Member]) -> None:
    """Writes a package that kflash reads. Files of the same name are renamed, equal input gives
    equal bytes."""
    entries: list[dict[str, Any]] = []
    files: dict[str, bytes] = {}
    for m in members:
        if m.data is None:
            raise PackageError(f"{m.name}: {m.error or 'no data'}")
        name = _free_name(m.name, m.data, files)
        files[name] = m.data
        entry = {"address": m.address, "bin": name, "sha256Prefix": m.sha256_prefix}
        entries.append({**entry, "reverse4Bytes": True} if m.swapped else entry)
    listing = json.dumps({"version": LIST_VERSION, "files": entries}, indent=2)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in [(LIST_NAME, listing.encode()), *files.items()]:
            info = zipfile.ZipInfo(
                name
            )  # the fixed 1980 date of zipfile: the same package every time
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)


def _free_name(wanted: str, data: bytes, files: dict[str, bytes]) -> str:
    base = re.sub(r"[^\w.-]", "_", os.path.basename(wanted)) or "data.bin"
    stem, dot, ext = base.rpartition(".")
    name, n = base, 2
    while name == LIST_NAME or files.get(name, data) != data:
        name, n = (f"{stem}-{n}{dot}{ext}" if stem else f"{base}-{n}"), n + 1
    return name


def _list_text(archive: zipfile.ZipFile) -> str:
    if LIST_NAME not in archive.namelist():
        raise PackageError(f"no {LIST_NAME} in the package")
    try:
        return _read_capped(archive, LIST_NAME, MAX_LIST).decode("utf-8-sig")
    except _DAMAGE as e:
        raise PackageError(f"{LIST_NAME} is damaged: {_one_line(e)}") from None


def _entries(text: str) -> list[dict[str, Any]]:
    """The checked entries: bin is a string, address a number from 0 up."""
    try:
        listing = json.loads(_STRING_OR_HEX.sub(_decimal, text))
    except (ValueError, RecursionError) as e:
        raise PackageError(f"{LIST_NAME} is not JSON: {_one_line(e)}") from None
    files = listing.get("files") if isinstance(listing, dict) else None
    if not isinstance(files, list) or not files:
        raise PackageError(f"{LIST_NAME} lists no files")
    if len(files) > MAX_ENTRIES:
        raise PackageError(f"{LIST_NAME} lists {len(files)} files, more than {MAX_ENTRIES}")
    return [_entry(i, e) for i, e in enumerate(files, 1)]


def _decimal(token: re.Match[str]) -> str:
    """Hex numbers are common in flash lists and unknown to JSON; strings pass untouched."""
    text = token.group()
    return text if text.startswith('"') else str(int(text, 16))


def _entry(number: int, entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict) or not isinstance(entry.get("bin"), str):
        raise PackageError(f'{LIST_NAME}: entry {number} has no "bin" name')
    address = entry.get("address")
    if isinstance(address, str):
        try:
            address = int(address, 0)
        except ValueError:
            address = None
    if isinstance(address, bool) or not isinstance(address, int) or address < 0:
        shown = _one_line(repr(entry.get("address")))
        where = f"{LIST_NAME}: entry {number} ({_one_line(entry['bin'])})"
        raise PackageError(f"{where}: address {shown} is not a flash address")
    return {**entry, "address": address}


def _members(archive: zipfile.ZipFile, entries: list[dict[str, Any]]) -> list[Member]:
    contents: dict[str, tuple[bytes | None, str | None]] = {}
    seen: set[tuple[str, int]] = set()
    members, left = [], MAX_TOTAL
    for e in entries:
        name, where = e["bin"], (e["bin"], e["address"])
        if name not in contents:
            contents[name] = _content(archive, name, min(left, MAX_MEMBER))
            left -= len(contents[name][0] or b"")
        prefix = e.get("sha256Prefix") in (True,)  # 1 counts, "true" does not: what kflash does
        swapped = any(e.get(k) in (True,) for k in ("reverse4Bytes", "swap"))
        members.append(Member(name, e["address"], *contents[name], prefix, swapped, where in seen))
        seen.add(where)
    return members


def _content(archive: zipfile.ZipFile, name: str, limit: int) -> tuple[bytes | None, str | None]:
    try:
        return _read_capped(archive, name, limit), None
    except KeyError:
        return None, "listed, but not in the package"
    except _DAMAGE as e:
        return None, f"damaged, cannot be unpacked: {_one_line(e)}"


def _read_capped(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    with archive.open(name) as f:
        data = f.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"unpacks to more than {limit} bytes")
    return data


def _one_line(what: object) -> str:
    text = printable(" ".join(str(what).split())) or type(what).__name__
    return text if len(text) <= 120 else text[:117] + "..."
