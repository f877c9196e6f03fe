# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where models could go instead: the part of maixmem_flash that FlashMap.moves() loads when it is asked."""

from maixmem import FlashOverlap
from maixmem_flash import FRAME, LEAST, MODELS, SECTOR, _up

try:
    from micropython import const
except ImportError:

    def const(n):
        return n


_EFFORT = const(20000)  # steps after which the search gives up
_MOST = const(12)  # ... and how many it would move: each is a call inside a call


def moves(map):
    """See FlashMap.moves()."""
    return _Search(map).plan()


# Works once, for one FlashMap, of which it changes nothing. Holds lists of its regions, some 100 bytes for each call
# inside a call; takes _EFFORT steps at most.
class _Search:
    """Tries to move one region, then two, and so on, until nothing overlaps."""

    def __init__(self, map):
        self._map = map
        self._effort = _EFFORT

    def plan(self):
        """[(region, new start)]; FlashOverlap when there is none."""
        size = self._map.size
        floor = self._map._floor()
        rows = self._map._owners()
        out = [r for r in rows if self._map._moves(r) and self._must(r, floor)]
        stay = [r for r in rows if r not in out]
        if [r for r in stay if r.end > size]:
            raise FlashOverlap("no moves of models or data help: another region leaves the chip")
        for k in range(min(len(stay), _MOST - len(out)) + 1):
            for least, unit in ((MODELS, FRAME), (floor, FRAME), (floor, SECTOR)):
                found = self._move(stay, out, k, least, unit)
                if found is not None:
                    return found
        raise FlashOverlap(
            "no moves of up to {} models or data make this layout fit".format(_MOST)
        )

    def _must(self, r, floor):
        return r.start % SECTOR or r.end > self._map.size or (floor and r.start < LEAST)

    def _move(self, stay, out, k, least, unit):
        """A plan that moves `out` and k more of `stay`, or None."""
        self._step()
        pair = stay
        for i in range(len(stay) - 1):
            if stay[i].end > stay[i + 1].start:
                pair = (stay[i], stay[i + 1])
                break
        if not k:
            if pair is not stay:
                return None
            return self._pack(stay, sorted(out, key=lambda r: r.start - r.end), least, unit)
        for r in pair:
            if self._map._moves(r):
                plan = self._move([s for s in stay if s is not r], out + [r], k - 1, least, unit)
                if plan is not None:
                    return plan
        return None

    def _pack(self, stay, out, least, unit):
        gaps = []
        at = least
        for r in self._map._taken(stay):
            gaps.append([at, min(r.start - r.start % SECTOR, self._map.size)])
            at = max(at, _up(self._map._reach(r, unit), SECTOR))
        gaps.append([at, self._map.size])
        return self._fit(gaps, out, 0, unit, [])

    def _fit(self, gaps, out, i, unit, plan):
        if i == len(out):
            return plan
        need = _up(out[i].end - out[i].start, unit)
        for g in gaps:
            self._step()
            at = g[0]
            if at + need <= g[1]:
                g[0] = at + need
                found = self._fit(gaps, out, i + 1, unit, plan + [(out[i], at)])
                if found is not None:
                    return found
                g[0] = at
        return None

    def _step(self):
        self._effort -= 1
        if self._effort < 0:
            raise FlashOverlap(
                "too many ways to move the regions of this layout, no answer: take some out"
            )
