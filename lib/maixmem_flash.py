# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Who owns which bytes of the K210's SPI flash: before flashing on the desk, after it on the board.

from maixmem_flash import FlashMap
m = FlashMap()
m.scan()
m.report()
"""

from maixmem import FlashOverlap, hexa, kib, port, wrap

# The rules: of the chip and the flashers, and what was measured on the firmware (v0.6.2_84).
CHIP = 16 << 20  # what a 24-bit address reaches; beyond, it wraps
SECTOR = 4096  # flashers erase whole sectors, and refuse a start inside one
FRAME = 65536  # some flashers fill the last frame of a file with zeros
IMAGE_EXTRA = 37  # around a firmware: flag byte, u32 length, SHA-256
MODELS = 0x300000  # the documented place of models, above the official builds
LEAST = 0x0AFF25  # the end of the smallest of them (minimum, v0.6.2_84): below, each has its bytes
SPIFFS = 0xD00000  # the file system /flash
SPIFFS_SIZE = 0x300000

GIVEN = "given"
_FLASHED = ("firmware", "model", "data")  # what a flasher writes; the firmware writes the rest
_KINDS = _FLASHED + ("filesystem", "config", "free")


def _whole(what, start, nbytes):
    for n, least in ((start, 0), (nbytes, 1)):
        if isinstance(n, bool) or not isinstance(n, int) or n < least:
            text = "{}: start {!r} and {!r} bytes. Next: ints, 0 or more and 1 or more."
            raise ValueError(text.format(what, start, nbytes))


# Bytes start..end, end is the first byte after. `kind` is one of firmware, model, filesystem, config, data, free.
# `source` says how this is known, GIVEN when the caller said so; `intact` is the verdict of a SHA-256, or None.
class FlashRegion:
    """A named run of flash bytes."""

    def __init__(self, name, start, nbytes, kind="data", source=GIVEN):
        if kind not in _KINDS:
            raise ValueError(
                "flash region {}: kind {!r}, not one of {}".format(name, kind, ", ".join(_KINDS))
            )
        _whole("flash region {}".format(name), start, nbytes)
        self.name = name
        self.start = start
        self.end = start + nbytes
        self.kind = kind
        self.source = source
        self.intact = None

    def __str__(self):
        return "{} {}..{}".format(self.name, hexa(self.start), hexa(self.end))

    __repr__ = __str__


_SENTENCE = {
    "overlap": "{0} overlaps {1}: {2} bytes, {3}..{4}",
    "firmware": "{0} is where every official firmware is, and this map has none: {2} bytes, {3}..{4}",
    "beyond": "{0} leaves the chip: {2} bytes, {3}..{4}, would wrap to its start",
    "erase": "flashing {0} erases whole sectors: {2} bytes of {1}, {3}..{4}",
    "padding": "flashing {0} may write whole 64 KiB frames: {2} bytes of {1}, {3}..{4}",
}


# `why` is "overlap" (both own the bytes), "firmware" (below LEAST with no firmware in the map) or "beyond" (past the
# end of the chip): conflicts. Or it is what a flasher that writes `first` may do to bytes that only `second` owns,
# "erase" or "padding": risks. `second` may be None.
class Clash:
    """Bytes start..end that two regions want, or that the chip does not have."""

    def __init__(self, why, first, second, start, end):
        self.why = why
        self.first = first
        self.second = second
        self.start = start
        self.end = end
        self.nbytes = end - start

    def __str__(self):
        other = self.second or "the start of the chip"
        return _SENTENCE[self.why].format(
            self.first, other, self.nbytes, hexa(self.start), hexa(self.end)
        )


def spiffs_start(size):
    """Where 0xD00000 is on a chip of this size (smaller chips repeat), or None when SPIFFS has no room on it."""
    start = SPIFFS % size
    return start if start + SPIFFS_SIZE <= size else None


def _up(n, unit):
    return (n + unit - 1) // unit * unit


# Owns a list of FlashRegion, about 200 bytes each; reads flash only in scan(). Free areas own nothing and clash with
# nothing; regions that only touch are fine. On a chip of 4, 8 or 16 MiB the map starts with SPIFFS, at the address
# that a chip of this size makes of 0xD00000. conflicts() and risks() sort a copy and allocate what they return.
# A map without a firmware does not know where it ends: on a chip that one fits on, nothing is placed below MODELS,
# or on one of less than 8 MiB below LEAST.
class FlashMap:
    """The regions of one flash chip and the verdicts about them."""

    def __init__(self, size=CHIP):
        self.size = size
        self.regions = []
        self.unread = []  # (start, end, why) that a scan could not look at
        self.notes = []  # sentences of a scan
        start = spiffs_start(size)
        if start is not None:
            self.add("SPIFFS", start, SPIFFS_SIZE, "filesystem", "where MaixPy builds have /flash")

    def add(self, name, start, nbytes, kind="data", source=GIVEN):
        """Adds a region and returns it; nbytes are the bytes it owns in flash (firmware: file + IMAGE_EXTRA)."""
        region = FlashRegion(name, start, nbytes, kind, source)
        self.regions.append(region)
        return region

    def _owners(self):
        return sorted([r for r in self.regions if r.kind != "free"], key=lambda r: r.start)

    def _taken(self, rows):
        """The rows and what a scan could not read, in order of address: where nothing may be put."""
        unread = [FlashRegion("not read", a, b - a, "config") for a, b, _ in self.unread]
        return sorted(rows + unread, key=lambda r: r.start)

    def _floor(self):
        """Where places begin while a firmware that the map does not know may lie below: MODELS, on small chips LEAST."""
        if self.size < LEAST or [r for r in self.regions if r.kind == "firmware"]:
            return 0
        return MODELS if self.size >= 8 << 20 else _up(LEAST, SECTOR)

    # --- two verdicts ---

    def conflicts(self):
        """[Clash] for bytes with two owners, of a firmware that is not in the map, and past the end of the chip."""
        found = []
        unknown = self._floor()
        rows = self._owners()
        for i in range(len(rows)):
            a = rows[i]
            for j in range(i + 1, len(rows)):
                b = rows[j]
                if b.start >= a.end:
                    break
                found.append(Clash("overlap", a, b, b.start, min(a.end, b.end)))
            if unknown and a.start < LEAST and self._moves(a):
                found.append(Clash("firmware", a, None, a.start, min(a.end, LEAST)))
            if a.end > self.size:
                found.append(Clash("beyond", a, None, max(a.start, self.size), a.end))
        return found

    def risks(self):
        """[Clash] for bytes with one owner that flashing another region may erase or overwrite."""
        found = []
        rows = self._owners()
        for a in rows:
            if a.kind not in _FLASHED:
                continue
            low = a.start - a.start % SECTOR
            sectors = _up(a.end, SECTOR)
            frames = self._reach(a, FRAME)
            for b in rows:
                if b.start >= frames:
                    break
                if b is a or b.end <= low or (b.start < a.end and a.start < b.end):
                    continue
                if b.start < sectors:
                    found.append(Clash("erase", a, b, max(b.start, low), min(b.end, sectors)))
                else:
                    found.append(Clash("padding", a, b, b.start, min(b.end, frames)))
            if a.end <= self.size < frames:
                found.append(Clash("padding", a, None, self.size, frames))
        return found

    def _reach(self, r, unit):
        if r.kind not in _FLASHED:
            return r.end
        low = r.start - r.start % SECTOR
        return low + _up(r.end - low, unit)

    def unaligned(self):
        """[FlashRegion] that flashers refuse: their start is inside a sector."""
        return [r for r in self._owners() if r.kind in _FLASHED and r.start % SECTOR]

    def check(self):
        """Raises FlashOverlap with every conflict, damaged image and the way out, or what was not read; returns risks()."""
        bad = [str(c) for c in self.conflicts()]
        bad += [
            "{} is damaged: its SHA-256 does not match".format(r)
            for r in self.regions
            if r.intact is False
        ]
        if bad:
            raise FlashOverlap("; ".join(bad) + ". Next: " + self._way_out())
        if self.unread:
            raise FlashOverlap("no conflict in what could be read, but " + self._unread_lines()[0])
        return self.risks()

    def _unread_lines(self):
        ranges = ["{}..{}".format(hexa(a), hexa(b)) for a, b, _ in self.unread]
        return ["not read: {}: {}".format(", ".join(ranges), self.unread[-1][2])] if ranges else []

    def _way_out(self):
        try:
            plan = self.moves()
        except (FlashOverlap, ImportError) as e:
            return str(e)
        steps = ["put {} at {}".format(r.name, hexa(start)) for r, start in plan]
        return ", ".join(steps + ["flash what was overwritten again"])

    def trouble(self, start, nbytes, name="model"):
        """Sentences about a model of nbytes at start: what overlaps it, cuts it, or may be flashed over it."""
        mine = FlashRegion(name, start, nbytes, "model")
        other = FlashMap(self.size)
        other.regions = [r for r in self.regions if r.kind != "model" or r.start != start] + [mine]
        return [
            str(c)
            for c in other.conflicts() + other.risks()
            if c.first is mine or c.second is mine
        ]

    # --- places ---

    def gap_for(self, nbytes, align=SECTOR, start=0, unit=FRAME):
        """The lowest multiple of align from start where nbytes neither conflict nor are at risk, or None.

        From MODELS (or LEAST, see above) while the map has no firmware. With unit=SECTOR for flashers that do not pad (kflash): only conflicts and erased sectors count.
        """
        if align % SECTOR or align < SECTOR:
            raise ValueError("gap_for: align {} is not a multiple of {}".format(align, SECTOR))
        _whole("gap_for", start, nbytes)
        need = _up(nbytes, unit)
        at = _up(max(start, self._floor()), align)
        for r in self._taken(self._owners()):
            low = r.start - r.start % SECTOR if r.kind in _FLASHED else r.start
            if at + need <= min(low, self.size):
                return at
            at = max(at, _up(self._reach(r, unit), align))
        return at if at + need <= self.size else None

    def moves(self):
        """[(region, new start)], the fewest that leave no conflict and nothing unaligned; models and given data move.

        New places are free of risks and at MODELS or above where that takes no more moves. Raises FlashOverlap
        when no moves help, or when the search takes too long to say. Imports maixmem_moves.
        """
        from maixmem_moves import moves

        return moves(self)

    def _moves(self, r):
        return r.kind == "model" or (r.kind == "data" and r.source == GIVEN)

    # --- what is in the chip ---

    def scan(self, read=None, offsets=None, verify=False, gaps=True):
        """Looks at the chip: firmware, file system, models, blank areas. Returns self. Keeps regions that were given.

        read(offset, n) is the port's safe read_flash, or that of a dump. Models are looked for at `offsets`, by
        default all multiples of 64 KiB; verify streams each image through SHA-256; gaps reads what has no owner.
        What could not be read is in `unread`, never fine. Imports maixmem_scan, its contract says what that holds.
        """
        from maixmem_scan import Scan

        Scan(self, read or port().read_flash).run(offsets, verify, gaps)
        return self

    def report(self, out=print):
        """Prints regions, conflicts (!), risks (?) and what was not read; `out` takes one line. True if all is fine."""
        lines = []
        for r in sorted(self.regions, key=lambda r: r.start):
            size = kib(r.end - r.start)
            lines.append(
                "{}..{} {:>10} {}: {}".format(hexa(r.start), hexa(r.end), size, r.name, r.source)
            )
        bad = self.conflicts()
        lines += ["! {}".format(c) for c in bad] + ["? {}".format(c) for c in self.risks()]
        lines += [
            "? {}: flashers refuse a start inside a sector".format(r) for r in self.unaligned()
        ]
        lines += self._unread_lines()
        for text in lines + self.notes:
            for line in wrap(text):
                out(line)
        return not (
            bad or self.unread or self.notes or [r for r in self.regions if r.intact is False]
        )
