# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Who owns which bytes of the K210's SPI flash: before flashing on the desk, after it on the
board.

from maixmem_flash import FlashMap
m = FlashMap()
m.scan()
m.report()
"""

from maixmem import message, run_once

FLASH_SIZE, SPIFFS_SIZE, SPIFFS_START = run_once(
    "k210_chip", "values", "FLASH_SIZE SPIFFS_SIZE SPIFFS_START"
)

# The rules of the flashers, and what was measured on the firmware (v0.6.2_84).
SECTOR = 4096  # flashers erase whole sectors, and refuse a start inside one
BLOCK_64K = 65536  # some flashers fill the last block of a file with zeros

USER = "given"  # the source of a region that the caller named
_KINDS = "firmware, model, data, filesystem, config, free"


# Bytes start..end, end is the first byte after. `kind` is one of firmware, model, filesystem,
# config, data, free. `source` says how this is known, USER when the caller said so; `intact` is
# the verdict of a SHA-256, or None.
class FlashRegion:
    """A named run of flash bytes."""

    def __init__(
        self, name: str, start: int, nbytes: int, kind: str = "data", source: str = USER
    ) -> None:
        if kind not in _KINDS.split(", "):
            raise ValueError(message("kind", name, kind, _KINDS))
        check_size(name, start, nbytes)
        self.name = name
        self.start = start
        self.end = start + nbytes
        self.kind = kind
        self.source = source
        self.intact = None  # type: bool | None

    def __str__(self):
        return "{} {:#08x}..{:#08x}".format(self.name, self.start, self.end)


def check_size(what: str, start: int, nbytes: int) -> None:
    """ValueError for what is no start or no number of bytes."""
    for n, least in ((start, 0), (nbytes, 1)):
        if isinstance(n, bool) or not isinstance(n, int) or n < least:
            raise ValueError(message("nbytes", what, start, nbytes))


def spiffs_start(size: int) -> "int | None":
    """Where SPIFFS is on a chip of this size (smaller chips repeat), or None when it has no room
    on it."""
    start = SPIFFS_START % size
    return start if start + SPIFFS_SIZE <= size else None


# Owns a list of FlashRegion, about 200 bytes each; reads flash only in scan(). Free areas own
# nothing and conflict with nothing; regions that only touch are fine. On a chip of 4, 8 or 16 MiB
# the map starts with SPIFFS, at the address that a chip of this size makes of 0xD00000. The
# verdicts are in maixmem_flash_check, and in maixmem_flash_gap, which each imports and drops: some
# 4 KiB for the moment; they allocate what they return.
# A map without a firmware does not know where it ends: on a chip that one fits on, nothing is
# placed below maixmem_flash_check.MODEL_BASE, or on one of less than 8 MiB below MIN_FIRMWARE_END
# there.
class FlashMap:
    """The regions of one flash chip and the verdicts about them."""

    def __init__(self, size: int = FLASH_SIZE) -> None:
        self.size = size
        self.regions = []  # type: list[FlashRegion]
        # what a scan could not look at: start, end, why
        self.unread = []  # type: list[tuple[int, int, str]]
        self.notes = []  # type: list[str]  # sentences of a scan
        start = spiffs_start(size)
        if start is not None:
            self.add("SPIFFS", start, SPIFFS_SIZE, "filesystem", "where MaixPy builds have /flash")

    def add(
        self, name: str, start: int, nbytes: int, kind: str = "data", source: str = USER
    ) -> FlashRegion:
        """Adds a region and returns it; nbytes are the bytes it owns in flash (firmware: file +
        IMAGE_OVERHEAD)."""
        region = FlashRegion(name, start, nbytes, kind, source)
        self.regions.append(region)
        return region

    def conflicts(self) -> list:
        """A maixmem_flash_check.Conflict for bytes with two owners, one perhaps a firmware that is
        not in the map, or none."""
        return run_once("flash_check", "conflicts", self)

    def risks(self) -> list:
        """A Conflict for bytes with one owner that flashing another region may erase or
        overwrite."""
        return run_once("flash_check", "risks", self)

    def check(self) -> list:
        """Raises FlashOverlap with every conflict and damaged image, or what was not read; returns
        risks()."""
        return run_once("flash_check", "check", self)

    def gap_for(
        self, nbytes: int, align: int = SECTOR, start: int = 0, unit: int = BLOCK_64K
    ) -> "int | None":
        """The lowest multiple of align from start where nbytes neither conflict nor are at risk,
        or None.

        Above any firmware while the map has none, see there. With unit=SECTOR for flashers that do
        not pad (kflash): only conflicts and erased sectors count.
        """
        return run_once("flash_gap", "gap_for", self, nbytes, align, start, unit)

    def scan(self, read=None, offsets=None, verify: bool = False, gaps: bool = True) -> "FlashMap":
        """Looks at the chip: firmware, file system, models, blank areas. Returns self. Keeps
        regions that were given.

        read(offset, n) is the port's safe read_flash, or that of a dump. Models are looked for at
        `offsets`, by default all multiples of 64 KiB; verify streams each image through SHA-256;
        gaps reads what has no owner. What could not be read is in `unread`, never fine. Imports
        maixmem_flash_scan, its contract says what that holds.
        """
        run_once(
            "flash_scan",
            "scan",
            self,
            read,
            offsets,
            verify,
            gaps,
        )
        return self

    def report(self, out=print) -> bool:
        """Prints regions, conflicts (!), risks (?) and what was not read; `out` takes one line.
        True if all is fine."""
        return run_once("flash_text", "report", self, out)
