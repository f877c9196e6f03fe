# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The verdicts about a flash map: what overlaps, what flashing may harm. A one-time part.

A function takes a FlashMap and changes nothing of it. maixmem_flash imports this for one question.
"""

from maixmem import FlashOverlap, message
from maixmem_flash import BLOCK_64K, SECTOR, USER, FlashMap, FlashRegion

FLASHED = ("firmware", "model", "data")  # what a flasher writes; the firmware writes the rest
MODEL_BASE = 0x300000  # the documented place of models, above the official builds
MIN_FIRMWARE_END = (
    0x0AFF25  # the end of the smallest of them (minimum, v0.6.2_84): below, each has its bytes
)


# `kind` is "overlap" (both own the bytes), "firmware" (below MIN_FIRMWARE_END with no firmware in
# the map) or "beyond" (past the end of flash): conflicts. Or it is what a flasher that writes
# `first` may do to bytes that only `second` owns, "erase" or "padding": risks. `second` may be
# None.
class Conflict:
    """Bytes start..end that two regions want, or that the chip does not have."""

    def __init__(
        self, kind: str, first: FlashRegion, second: "FlashRegion | None", start: int, end: int
    ) -> None:
        self.kind = kind
        self.first = first
        self.second = second
        self.start = start
        self.end = end
        self.nbytes = end - start

    def __str__(self):
        n = self.nbytes
        return message(self.kind, self.first, self.second, n, self.start, self.end)


def round_up(n: int, unit: int) -> int:
    """The least multiple of `unit` that is n or more."""
    return (n + unit - 1) // unit * unit


def owners(m: FlashMap) -> "list[FlashRegion]":
    """What owns bytes, in order of address."""
    return sorted([r for r in m.regions if r.kind != "free"], key=lambda r: r.start)


def floor(m: FlashMap) -> int:
    """Where places begin while a firmware that the map does not know may lie below, or 0: see
    FlashMap."""
    if m.size < MIN_FIRMWARE_END or [r for r in m.regions if r.kind == "firmware"]:
        return 0
    return MODEL_BASE if m.size >= 8 << 20 else round_up(MIN_FIRMWARE_END, SECTOR)


def reach(r: FlashRegion, unit: int) -> int:
    """The end of what flashing a region writes, in units from the sector that it starts in."""
    if r.kind not in FLASHED:
        return r.end
    low = r.start - r.start % SECTOR
    return low + round_up(r.end - low, unit)


def is_movable(r: FlashRegion) -> bool:
    """Whether its place is the user's to choose."""
    return r.kind == "model" or (r.kind == "data" and r.source == USER)


def conflicts(m: FlashMap) -> "list[Conflict]":
    """For bytes with two owners, of a firmware that is not in the map, and past the end of the
    chip."""
    found = []
    unknown = floor(m)
    rows = owners(m)
    for i in range(len(rows)):
        a = rows[i]
        for j in range(i + 1, len(rows)):
            b = rows[j]
            if b.start >= a.end:
                break
            found.append(Conflict("overlap", a, b, b.start, min(a.end, b.end)))
        if unknown and a.start < MIN_FIRMWARE_END and is_movable(a):
            found.append(Conflict("firmware", a, None, a.start, min(a.end, MIN_FIRMWARE_END)))
        if a.end > m.size:
            found.append(Conflict("beyond", a, None, max(a.start, m.size), a.end))
    return found


def risks(m: FlashMap) -> "list[Conflict]":
    """For bytes with one owner that flashing another region may erase or overwrite."""
    found = []
    rows = owners(m)
    for a in rows:
        if a.kind not in FLASHED:
            continue
        low = a.start - a.start % SECTOR
        sectors = round_up(a.end, SECTOR)
        frames = reach(a, BLOCK_64K)
        for b in rows:
            if b.start >= frames:
                break
            if b is a or b.end <= low or (b.start < a.end and a.start < b.end):
                continue
            if b.start < sectors:
                found.append(Conflict("erase", a, b, max(b.start, low), min(b.end, sectors)))
            else:
                found.append(Conflict("padding", a, b, b.start, min(b.end, frames)))
        if a.end <= m.size < frames:
            found.append(Conflict("padding", a, None, m.size, frames))
    return found


def unaligned(m: FlashMap) -> "list[FlashRegion]":
    """What flashers refuse: their start is inside a sector."""
    return [r for r in owners(m) if r.kind in FLASHED and r.start % SECTOR]


def check(m: FlashMap) -> "list[Conflict]":
    """See FlashMap.check()."""
    bad = [str(c) for c in conflicts(m)]
    bad += [message("damaged", r) for r in m.regions if r.intact is False]
    if bad:
        raise FlashOverlap(message("flash_conflict", "; ".join(bad)))
    if m.unread:
        raise FlashOverlap(message("unread", unread_line(m)))
    return risks(m)


def unread_line(m: FlashMap) -> str:
    """What a scan could not look at, and why, as one line."""
    ranges = ["{:#08x}..{:#08x}".format(a, b) for a, b, _ in m.unread]
    return "not read: {}: {}".format(", ".join(ranges), m.unread[-1][2])
