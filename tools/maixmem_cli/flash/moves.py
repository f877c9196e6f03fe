# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where models could go instead: the fewest moves that leave a flash map without conflicts."""

from __future__ import annotations

from typing import List, Tuple

from maixmem import FlashOverlap
from maixmem_flash import BLOCK_64K, SECTOR, FlashMap, FlashRegion
from maixmem_flash_check import (
    MIN_FIRMWARE_END,
    MODEL_BASE,
    floor,
    is_movable,
    owners,
    reach,
    round_up,
)
from maixmem_flash_gap import taken

_EFFORT = 20000  # steps after which the search gives up
_MOST = 12  # regions that it would move

Plan = List[Tuple[FlashRegion, int]]


def plan(flash: FlashMap) -> Plan:
    """[(region, new start)], the fewest that leave no conflict and nothing unaligned; models and
    given data move.

    New places are free of risks and at the documented place of models or above where that takes no
    more moves. Raises FlashOverlap when no moves help, or when the search takes too long to say.
    Changes nothing of the map.
    """
    return _Search(flash).plan()


# Works once, for one FlashMap.
class _Search:
    """Tries to move one region, then two, and so on, until nothing overlaps."""

    def __init__(self, flash: FlashMap) -> None:
        self._map = flash
        self._effort = _EFFORT

    def plan(self) -> Plan:
        size = self._map.size
        lowest = floor(self._map)
        rows = owners(self._map)
        out = [r for r in rows if is_movable(r) and self._must(r, lowest)]
        stay = [r for r in rows if r not in out]
        if [r for r in stay if r.end > size]:
            raise FlashOverlap(
                "no moves of models or data help: another region extends past the end of flash"
            )
        for k in range(min(len(stay), _MOST - len(out)) + 1):
            for least, unit in ((MODEL_BASE, BLOCK_64K), (lowest, BLOCK_64K), (lowest, SECTOR)):
                found = self._move(stay, out, k, least, unit)
                if found is not None:
                    return found
        raise FlashOverlap(f"no moves of up to {_MOST} models or data make this layout fit")

    def _must(self, r: FlashRegion, lowest: int) -> bool:
        return bool(
            r.start % SECTOR or r.end > self._map.size or (lowest and r.start < MIN_FIRMWARE_END)
        )

    def _move(
        self, stay: list[FlashRegion], out: list[FlashRegion], k: int, least: int, unit: int
    ) -> Plan | None:
        """A plan that moves `out` and k more of `stay`, or None."""
        self._step()
        pair = next(([a, b] for a, b in zip(stay, stay[1:]) if a.end > b.start), stay)
        if not k:
            if pair is not stay:
                return None
            return self._pack(stay, sorted(out, key=lambda r: r.start - r.end), least, unit)
        for r in filter(is_movable, pair):
            rest = [s for s in stay if s is not r]
            found = self._move(rest, [*out, r], k - 1, least, unit)
            if found is not None:
                return found
        return None

    def _pack(
        self, stay: list[FlashRegion], out: list[FlashRegion], least: int, unit: int
    ) -> Plan | None:
        gaps = []
        at = least
        for r in taken(self._map, stay):
            gaps.append([at, min(r.start - r.start % SECTOR, self._map.size)])
            at = max(at, round_up(reach(r, unit), SECTOR))
        gaps.append([at, self._map.size])
        return self._fit(gaps, out, unit, [])

    def _fit(
        self, gaps: list[list[int]], out: list[FlashRegion], unit: int, done: Plan
    ) -> Plan | None:
        if len(done) == len(out):
            return done
        r = out[len(done)]
        need = round_up(r.end - r.start, unit)
        for gap in gaps:
            self._step()
            at = gap[0]
            if at + need <= gap[1]:
                gap[0] = at + need
                found = self._fit(gaps, out, unit, [*done, (r, at)])
                if found is not None:
                    return found
                gap[0] = at
        return None

    def _step(self) -> None:
        self._effort -= 1
        if self._effort < 0:
            raise FlashOverlap(
                "too many ways to move the regions of this layout, no answer: take some out"
            )
