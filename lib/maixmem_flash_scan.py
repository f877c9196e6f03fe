# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is in the flash chip: what FlashMap.scan() imports when it is called. A one-time part."""

import gc

from maixmem import const, port
from maixmem_flash import BLOCK_64K, SECTOR, USER, FlashMap, spiffs_start
from maixmem_k210_chip import IMAGE_OVERHEAD, SPIFFS_SIZE
from maixmem_k210_cost import image_bytes
from maixmem_kmodel import FORMATS, read_info

_PIECE = const(1024)  # bytes read at once
_COLLECT = const(
    32768
)  # bytes read between collections: the more garbage, the slower the next allocation
_REGIONS = const(48)  # that a scan keeps, about 200 bytes each
_UNREAD = const(4)  # ranges that could not be read; what follows widens the last
_NOTES = const(8)
# Kboot (source: its boot loader): stage 1 names itself, a configuration has eight entries of 32
# bytes.
_STAGES = (
    ("Kboot stage 0", 0, 0x1000, "firmware"),
    ("Kboot stage 1", 0x1000, 0x3000, "firmware"),
    ("Kboot config", 0x4000, 0x2000, "config"),
)
_CONFIG = const(0x4000)
_ENTRY = const(0x5AA5D0C0)  # u32 big-endian, flags in the low 6 bits; then address and size
# SPIFFS (measured on the firmware v0.6.2_84): the first page of a block has a u16 for each of its
# 31 other pages, 0xFFFF free and 0 deleted, and near its end the u16 _MAGIC ^ (blocks from here to
# the end).
_BLOCK = const(0x20000)
_IDS = const(62)
_MARK = const(4092)
_MAGIC = const(0x1529)


# Works once, for one FlashMap whose regions it replaces but for the given ones. Holds 4 KiB of GC
# heap while it reads, and what it finds: at most _REGIONS regions and _UNREAD ranges. A read that
# fails for want of memory is noted in map.unread and the scan goes on; any other exception is the
# caller's. Never writes, never waits.
class Scan:
    """One scan of a chip through read(offset, n)."""

    def __init__(self, map, read):
        self._map = map
        self._read = read
        self._ff = b"\xff" * _PIECE
        self._dirty = 0

    def run(self, offsets, verify, gaps):
        """Fills the map: images (their SHA-256 if verify), SPIFFS, models at offsets, and what is
        in the gaps."""
        m = self._map
        m.regions = [r for r in m.regions if r.source == USER]
        m.unread = []
        m.notes = []
        self._boot(verify)
        self._spiffs()
        for offset in range(0, m.size, BLOCK_64K) if offsets is None else offsets:
            self._model(offset)
        if gaps:
            self._gaps()

    def _look(self, offset, n):
        self._dirty += n
        if self._dirty >= _COLLECT and hasattr(gc, "mem_free"):
            self._dirty = 0
            gc.collect()
        try:
            return self._read(offset, n)
        except (MemoryError, OSError) as e:
            self._missed(offset, offset + n, str(e))
            return None

    def _missed(self, start, end, why):
        unread = self._map.unread
        last = unread[-1] if unread else (0, -1, "")
        if (start <= last[1] and last[0] <= end) or len(unread) >= _UNREAD:
            unread.pop()
            start, end, why = min(start, last[0]), max(end, last[1]), last[2]
        unread.append((start, end, why))

    def _found(self, name, start, nbytes, kind, source):
        m = self._map
        for r in m.regions:
            if r.start == start and r.kind == kind:
                return r  # given: what is to be there, or is known to be
        if len(m.regions) >= _REGIONS:
            self._missed(start, start + nbytes, "more than {} regions".format(_REGIONS))
            return None
        return m.add(name, start, nbytes, kind, source)

    def _blank(self, data):
        n = len(data)
        return data == (self._ff if n == _PIECE else self._ff[:n])

    # --- images ---

    def _boot(self, verify):
        stage1 = self._look(0x1008, 8)
        if stage1 is not None and stage1[1:8] == b"Kboot_v":
            self._kboot(verify)
        elif self._image("firmware", 0, "header at 0x000000", verify) is False:
            self._map.notes.append("no firmware header at 0x000000")

    def _kboot(self, verify):
        for name, start, nbytes, kind in _STAGES:
            self._found(name, start, nbytes, kind, "Kboot_v at 0x001009")
        for i in range(8):
            entry = self._look(_CONFIG + 32 * i, 32)
            if entry is None or int.from_bytes(entry[:4], "big") & ~63 != _ENTRY:
                continue
            start = int.from_bytes(entry[4:8], "big")
            source = "Kboot entry {}".format(i)
            if self._image("app {}".format(i), start, source, verify) is False:
                self._map.notes.append("{}: no image at {:#08x}".format(source, start))

    def _image(self, name, start, source, verify):
        """Adds the image whose header is at start; False when there is none, None when that cannot
        be read."""
        size = self._map.size
        if start + IMAGE_OVERHEAD > size:
            return False
        head = self._look(start, 5)
        if head is None:
            return None
        nbytes = image_bytes(head)
        if not nbytes or start + nbytes > size:
            return False
        region = self._found(name, start, nbytes, "firmware", source)
        if region and verify and region.source != USER:
            self._verify(region)
        return True

    def _verify(self, region):
        try:
            from hashlib import sha256
        except ImportError:
            from uhashlib import sha256
        h = sha256()
        end = region.end - 32
        for at in range(region.start, end, _PIECE):
            data = self._look(at, min(_PIECE, end - at))
            if data is None:
                return
            h.update(data)
        want = self._look(end, 32)
        if want is not None:
            region.intact = want == h.digest()
            region.source += ", SHA-256 right" if region.intact else ", SHA-256 WRONG"

    # --- file system and models ---

    def _spiffs(self):
        start = spiffs_start(self._map.size)
        if start is None:
            return
        blocks = SPIFFS_SIZE // _BLOCK
        marked = used = unread = 0
        for i in range(blocks):
            mark = self._look(start + i * _BLOCK + _MARK, 2)
            ids = self._look(start + i * _BLOCK, _IDS)
            if mark is None or ids is None:
                unread += 1
            elif mark[0] | mark[1] << 8 == _MAGIC ^ (blocks - i):
                marked += 1
                used += len(
                    [j for j in range(0, _IDS, 2) if 0 < ids[j] | ids[j + 1] << 8 < 0xFFFF]
                )
        if marked == blocks:
            source = "formatted, {} of {} pages used".format(used, blocks * _IDS // 2)
        elif unread:
            source = "its place, {} of {} blocks could not be read".format(unread, blocks)
        else:
            does = "erases the other" if marked == blocks - 1 else "formats it"
            source = "{} of {} blocks marked: a boot {}".format(marked, blocks, does)
        self._found("SPIFFS", start, SPIFFS_SIZE, "filesystem", source)

    def _model(self, offset):
        head = self._look(offset, 16)
        if head is None or self._blank(head):
            return
        if not [
            order for order in ("little", "big") if int.from_bytes(head[:4], order) in FORMATS
        ]:
            return  # before anybody words why
        try:
            k = read_info(offset, self._read)
        except ValueError:
            return  # no model starts here
        except (MemoryError, OSError) as e:
            self._missed(offset, offset + 16, str(e))
            return
        name = "{} model{}".format(k.format, " (word-swapped)" if k.swapped else "")
        if k.nbytes:
            self._found(name, offset, k.nbytes, "model", "its header")
        elif k.format[:2] in ("v5", "v6") and len(self._map.notes) < _NOTES:
            self._map.notes.append(
                "{} at {:#08x}: its length is not in its header".format(name, offset)
            )

    # --- what has no owner ---

    def _gaps(self):
        at = 0
        for r in sorted(self._map.regions, key=lambda r: r.start):
            self._survey(at, min(r.start, self._map.size))
            at = max(at, r.end)
        self._survey(at, self._map.size)

    def _survey(self, at, end):
        first = at
        last = None
        while at < end:
            stop = min(at - at % SECTOR + SECTOR, end)
            blank = self._blank_sector(at, stop)
            if blank is not last:
                self._area(first, at, last)
                first = at
                last = blank
            at = stop
        self._area(first, end, last)

    def _blank_sector(self, at, stop):
        """True when blank, False when not, None when not read."""
        while at < stop:
            data = self._look(at, min(_PIECE, stop - at))
            if data is None:
                self._missed(at, stop, "")  # the whole sector
                return None
            if not self._blank(data):
                return False
            at += _PIECE
        return True

    def _area(self, start, end, blank):
        if start < end and blank is not None:
            name, kind = ("blank", "free") if blank else ("unknown", "data")
            self._found(name, start, end - start, kind, "no owner")


def scan(m: FlashMap, read, offsets, verify: bool, gaps: bool) -> None:
    """See FlashMap.scan()."""
    if hasattr(gc, "threshold"):
        gc.threshold(_COLLECT)  # run_once() set less: 16 MiB of reads would be 4,000 collections
    Scan(m, read or port().read_flash).run(offsets, verify, gaps)


def images(read) -> "list[tuple[str, int, int]]":
    """[(name, start, bytes)] of the boot loader and the images that it knows, where Kboot is in
    flash."""
    m = FlashMap()
    Scan(m, read).run((), False, False)
    return [(r.name, r.start, r.end - r.start) for r in m.regions if r.kind != "filesystem"]
