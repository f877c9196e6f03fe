# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""An SD card as the firmware mounts it: a partition table and one FAT16 partition with the files
of a folder.

Source: Microsoft's FAT specification 1.03 (fields of the boot sector, long names).
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
PARTITION = 2048  # its first sector
ROOT_ENTRIES = 512
MAX_BYTES = 1 << 30
_FILE, _FOLDER, _LONG_NAME = 0x20, 0x10, 0x0F
_END = 0xFFFF
_SMALLEST, _LARGEST = 4200, 65000  # clusters: fewer would be FAT12, more FAT32


class CardError(ValueError):
    """The folder cannot be a card; the text says why and what to do."""


@dataclass
class _Disk:
    """Clusters that are given out one after the other."""

    cluster: int
    table: list[int] = field(default_factory=lambda: [0xFFF8, _END])
    data: list[bytes] = field(default_factory=list)
    names: int = 0

    def store(self, data: bytes) -> int:
        """The first cluster of the data; 0 for none."""
        if not data:
            return 0
        n = -(-len(data) // self.cluster)
        first = len(self.table)
        self.table += [*range(first + 1, first + n), _END]
        self.data.append(data.ljust(n * self.cluster, b"\0"))
        return first

    def short_name(self, name: str) -> bytes:
        """A unique 8.3 name; the long one beside it is what is seen."""
        self.names += 1
        extension = re.sub(r"[^A-Z0-9]", "", Path(name).suffix.upper())[:3]
        return f"F{self.names:07d}{extension:3}".encode()

    def entry(self, name: str, kind: int, first: int, length: int) -> bytes:
        """The directory entries of a file: its long name in pieces of 13, last piece first, then
        the short one."""
        short = self.short_name(name)
        check = 0
        for b in short:
            check = ((check & 1) << 7) + (check >> 1) + b & 255
        units = name.encode("utf-16-le")
        units += b"\0\0" if len(units) % 26 else b""
        units += b"\xff" * (-len(units) % 26)
        pieces = [units[i : i + 26] for i in range(0, len(units), 26)]
        out = b""
        for k in range(len(pieces), 0, -1):
            u, mark = pieces[k - 1], k | (0x40 if k == len(pieces) else 0)
            out += struct.pack(
                "<B10sBBB12sH4s", mark, u[:10], _LONG_NAME, 0, check, u[10:22], 0, u[22:]
            )
        return out + struct.pack("<11sB14xHI", short, kind, first, length)

    def folder(self, path: Path, first: int = 0) -> bytes:
        """The entries of everything in a folder, which is stored. `first`: the folder's own
        cluster."""
        out = b""
        for item in sorted(path.iterdir()):
            if item.is_dir():
                out += self.entry(item.name, _FOLDER, self.subfolder(item, first), 0)
            elif item.is_file():
                data = item.read_bytes()
                out += self.entry(item.name, _FILE, self.store(data), len(data))
        return out

    def subfolder(self, path: Path, parent: int) -> int:
        """Stores a folder: its place first, because what is inside points back to it."""
        size = 64 + sum(
            32 * (1 + -(-len(p.name.encode("utf-16-le")) // 26)) for p in path.iterdir()
        )
        at = len(self.data)
        first = self.store(bytes(size))
        dots = struct.pack("<11sB14xHI", b".".ljust(11), _FOLDER, first, 0)
        dots += struct.pack("<11sB14xHI", b"..".ljust(11), _FOLDER, parent, 0)
        inside = dots + self.folder(path, first)
        self.data[at] = inside.ljust(len(self.data[at]), b"\0")
        return first


def check_inside(folder: Path) -> None:
    """CardError when a link below the folder leads out of it, or to a folder: who gave it away
    would see the files outside."""
    top = folder.resolve()
    for path in folder.rglob("*"):
        if path.is_symlink() and (path.is_dir() or not path.resolve().is_relative_to(top)):
            raise CardError(f"{path} is a link to {path.resolve()}. Next: put a copy there")


def build(folder: Path, more: dict[str, Path] | None = None) -> bytearray:
    """The card with the files of the folder, those in `more` (name -> file) at its top, and as
    much free room again.

    CardError when it is too big, or has links that lead out. A file of the folder wins over one
    of the same name in `more`.
    """
    check_inside(folder)
    added = {n: p for n, p in (more or {}).items() if not (folder / n).exists()}
    files = [*(p for p in folder.rglob("*") if p.is_file()), *added.values()]
    total = sum(p.stat().st_size for p in files)
    if total > MAX_BYTES:
        raise CardError(
            f"{folder} has {total} bytes, a card here holds {MAX_BYTES}. Next: a smaller folder"
        )
    room = max(8 << 20, 2 * total + (4 << 20))
    per = 1
    while room // (per * SECTOR) > _LARGEST // 2:
        per *= 2
    disk = _Disk(per * SECTOR)
    root = disk.folder(folder)
    for name, path in added.items():
        data = path.read_bytes()
        root += disk.entry(name, _FILE, disk.store(data), len(data))
    if len(root) > ROOT_ENTRIES * 32:
        raise CardError(
            f"{folder}: too many names for the top of a card. Next: put files into subfolders"
        )
    clusters = max(_SMALLEST, room // disk.cluster, len(disk.table) + 64)
    table = struct.pack(f"<{len(disk.table)}H", *disk.table)
    table_sectors = -(-(clusters + 2) * 2 // SECTOR)
    sectors = 1 + 2 * table_sectors + ROOT_ENTRIES * 32 // SECTOR + clusters * per
    whole = bytearray(-(-(PARTITION + sectors) // 1024) * 1024 * SECTOR)
    entry = struct.pack("<B3sB3sII", 0, b"\xfe\xff\xff", 6, b"\xfe\xff\xff", PARTITION, sectors)
    whole[446:462], whole[510:512] = entry, b"\x55\xaa"
    at = PARTITION * SECTOR
    tables = [table.ljust(table_sectors * SECTOR, b"\0")] * 2
    root = root.ljust(ROOT_ENTRIES * 32, b"\0")
    for part in [_boot_sector(sectors, per, table_sectors), *tables, root, *disk.data]:
        whole[at : at + len(part)] = part
        at += len(part)
    return whole


def _boot_sector(sectors: int, per: int, table_sectors: int) -> bytes:
    small, large = (sectors, 0) if sectors < 1 << 16 else (0, sectors)
    fields = struct.pack(
        "<3s8sHBHBHHBHHHIIBBBI11s8s",
        *(
            b"\xeb\x3c\x90",
            b"MAIXMEM ",
            SECTOR,
            per,
            1,
            2,
            ROOT_ENTRIES,
            small,
            0xF8,
            table_sectors,
        ),
        *(32, 64, PARTITION, large, 0x80, 0, 0x29, 0x12345678, b"NO NAME    ", b"FAT16   "),
    )
    return fields.ljust(510, b"\0") + b"\x55\xaa"
