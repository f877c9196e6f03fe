# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where there is room in a flash map: what FlashMap.gap_for() imports. A one-time part; changes
nothing of the map."""

from maixmem_flash import SECTOR, FlashMap, FlashRegion, check_size
from maixmem_flash_check import FLASHED, floor, owners, reach, round_up


def taken(m: FlashMap, rows) -> "list[FlashRegion]":
    """The rows and what a scan could not read, in order of address: where nothing may be put."""
    unread = [FlashRegion("not read", a, b - a, "config") for a, b, _ in m.unread]
    return sorted(rows + unread, key=lambda r: r.start)


def gap_for(m: FlashMap, nbytes: int, align: int, start: int, unit: int) -> "int | None":
    """See FlashMap.gap_for()."""
    if align % SECTOR or align < SECTOR:
        raise ValueError("gap_for: align {} is not a multiple of {}".format(align, SECTOR))
    check_size("gap_for", start, nbytes)
    need = round_up(nbytes, unit)
    at = round_up(max(start, floor(m)), align)
    for r in taken(m, owners(m)):
        low = r.start - r.start % SECTOR if r.kind in FLASHED else r.start
        if at + need <= min(low, m.size):
            return at
        at = max(at, round_up(reach(r, unit), align))
    return at if at + need <= m.size else None
