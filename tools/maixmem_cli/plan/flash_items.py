# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the flash commands are given: FILE@ADDRESS, a firmware, a package or a dump, and the map
they make."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from maixmem import KModelError
from maixmem_flash import BLOCK_64K, SECTOR, FlashMap, FlashRegion
from maixmem_flash_check import unaligned
from maixmem_k210_chip import FLASH_SIZE
from maixmem_kmodel import read_info

from maixmem_cli.firmware import builds
from maixmem_cli.firmware.builds import IMAGE_START, Firmware
from maixmem_cli.firmware.known_bad import known_bad
from maixmem_cli.flash import moves
from maixmem_cli.flash.kfpkg import Member, PackageError, read_package
from maixmem_cli.text.numbers import hexa, parse_address
from maixmem_cli.text.output import printable, unreadable

SMALLEST_DUMP = 4 << 20  # the smallest chip on these boards


class ItemError(ValueError):
    """An item that cannot be used at all: wrong use, one line."""


@dataclass
class Layout:
    """The map, what to write for each region that comes from a file, and findings that are no
    matter of addresses."""

    map: FlashMap
    members: list[tuple[FlashRegion, Member]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    dumps: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  #: what is known of a firmware among them

    @classmethod
    def of(cls, items: Iterable[str], size: int, firmware: Firmware | None = None) -> Layout:
        """The layout of a command line. Dumps come last: a file replaces what a dump has at its
        address.

        `firmware` is what lies at 0 already; without it and without a firmware among the items,
        the largest official build that the chip holds is assumed.
        """
        if not 0 < size <= FLASH_SIZE or size % SECTOR:
            raise ItemError(f"--size {size}: a chip has whole 4 KiB sectors, and 16M at most")
        layout = cls(FlashMap(size))
        for item in items:
            try:
                layout.add(item)
            except OSError as e:
                raise ItemError(unreadable(e, Path(item))) from None
        for path in layout.dumps:
            layout.scan_dump(path)
        layout.add_firmware(firmware)
        return layout

    def add_firmware(self, firmware: Firmware | None) -> None:
        """Adds what the items do not say: the firmware at 0. Raises ItemError when they do say
        it."""
        there = [r for r in self.map.regions if r.kind == "firmware"]
        if there and firmware:
            raise ItemError(f"--firmware {firmware.name}: the layout has {there[0]} already")
        if there or (self.dumps and not firmware):
            return
        build = firmware or builds.assumed(self.map.size)
        if build:
            self.map.add(f"firmware ({build.name})", 0, build.end, "firmware", build.source)
            self.notes += known_bad(build.title)

    def add(self, text: str) -> None:
        """Adds one item of the command line, or notes a dump for later. Raises ItemError."""
        path, address = _split(text)
        if not path.is_file():
            raise ItemError(f"{path}: no such file")
        if address is not None:
            self._add_file(path, address)
        elif zipfile.is_zipfile(path):
            self._add_package(path)
        elif _starts_with(path, IMAGE_START):
            self._add_file(path, 0)
        elif path.stat().st_size in (SMALLEST_DUMP, SMALLEST_DUMP * 2, FLASH_SIZE):
            self.dumps.append(path)
        else:
            raise ItemError(
                f"{path}: no firmware, package or flash dump; write {path.name}@0x300000 "
                "for a file at an address"
            )

    def _add_file(self, path: Path, address: int) -> None:
        if path.stat().st_size > FLASH_SIZE:
            raise ItemError(f"{path}: bigger than any flash chip")
        data = path.read_bytes()
        if not data:
            raise ItemError(f"{path}: empty file")
        self.add_member(
            Member(path.name, address, data, None, data.startswith(IMAGE_START)), str(path)
        )

    def _add_package(self, path: Path) -> None:
        try:
            members = read_package(path)
        except PackageError as e:
            raise ItemError(f"{path}: {e}") from None
        for m in members:
            where = f"{path.name}: {printable(m.name)} at {hexa(m.address)}"
            if m.data is None:
                self.findings.append(f"{where}: {m.error}; its bytes are not in the map")
            elif not m.nbytes:
                self.findings.append(f"{where}: empty file")
            elif m.repeat:
                continue
            else:
                self.add_member(m, where)

    def add_member(self, m: Member, where: str) -> None:
        """Adds a readable member; a model that is damaged or cut is a finding too."""
        assert m.data is not None and m.nbytes is not None
        kind = "firmware" if m.sha256_prefix or builds.wrapped(m.data) else "data"
        if kind == "data":
            try:
                info = read_info(m.data)
                kind = "model"
                if info.nbytes and info.nbytes - len(m.data) >= 8:
                    self.findings.append(
                        f"{where}: cut: {len(m.data)} bytes of a model of {info.nbytes}"
                    )
            except KModelError as e:
                if Path(m.name).suffix in (".kmodel", ".smodel"):
                    self.findings.append(f"{where}: {e}")
                    kind = "model"
        if kind == "data" and self._is_file_system(m):
            kind = "filesystem"
        self.members.append((self.map.add(printable(m.name), m.address, m.nbytes, kind), m))
        if kind == "firmware":
            said = builds.version(m.data)
            self.notes += known_bad(said) if said else []

    def _is_file_system(self, m: Member) -> bool:
        """True for the contents of /flash, as packages of boards bring them: they have the very
        range of the file system, and take its place in the map."""
        for r in self.map.regions:
            if r.kind == "filesystem" and (r.start, r.end - r.start) == (m.address, m.nbytes):
                self.map.regions.remove(r)
                return True
        return False

    def scan_dump(self, path: Path) -> None:
        """Adds what is in a dump of the chip. Raises ItemError when it is one of another chip."""
        data = path.read_bytes()
        if len(data) != self.map.size:
            raise ItemError(
                f"{path}: a dump of {len(data)} bytes, the chip has {self.map.size}; add "
                f"--size {len(data)}"
            )
        self.map.scan(lambda offset, n: data[offset : offset + n], verify=True)
        self.findings += self.map.notes

    def verdicts(self) -> list[tuple[str, str]]:
        """[(what, sentence)] for everything that must not be flashed as it is; empty when all is
        fine."""
        found = [(c.kind, str(c)) for c in self.map.conflicts()]
        for r in self.map.regions:
            if r.intact is False:
                found.append(("damaged", f"{r}: its SHA-256 does not match"))
        for r in unaligned(self.map):
            after = self.next_place(r, r.start)
            found.append(
                ("refused", f"{r}: flashers refuse a start inside a 4 KiB sector; {after}")
            )
        return found + [("file", text) for text in self.findings]

    def next_place(self, r: FlashRegion, start: int) -> str:
        """The next free place for a region, and the next that padding cannot reach, as text."""
        others = FlashMap(self.map.size)
        others.regions = [x for x in self.map.regions if x is not r]
        nbytes = r.end - r.start
        near, safe = (
            others.gap_for(nbytes, start=start, unit=unit) for unit in (SECTOR, BLOCK_64K)
        )
        if near is None:
            return "no room behind it"
        text = f"next: {hexa(near)}"
        return (
            text
            if near == safe or safe is None
            else f"{text}, or {hexa(safe)} for flashers that write whole 64 KiB frames"
        )


def suggest(layout: Layout) -> list[tuple[FlashRegion, int]]:
    """[(region, address)] for every model and data file: addresses that stay good under every
    official build.

    Raises FlashOverlap when there is no room.
    """
    everywhere = FlashMap(layout.map.size)
    there = layout.map.regions
    regions = [r for r in there if r.kind not in ("firmware", "free")]
    biggest = builds.assumed(layout.map.size)
    ends = [r.end for r in there if r.kind == "firmware" and r.start == 0]
    everywhere.regions = regions
    if biggest or ends:
        end = max([*ends, *([biggest.end] if biggest else [])])
        everywhere.add("the largest official build", 0, end, "firmware")
    moved = {id(r): start for r, start in moves.plan(everywhere)}
    return [(r, moved.get(id(r), r.start)) for r in regions if r.kind in ("model", "data")]


def _split(text: str) -> tuple[Path, int | None]:
    name, at, tail = text.rpartition("@")
    if not at:
        return Path(text), None
    try:
        return Path(name), parse_address(tail)
    except ValueError as e:
        if Path(text).is_file():
            return Path(text), None  # a file with an @ in its name
        raise ItemError(f"{text}: {e}") from None


def _starts_with(path: Path, magic: bytes) -> bool:
    with path.open("rb") as f:
        return f.read(len(magic)) == magic
