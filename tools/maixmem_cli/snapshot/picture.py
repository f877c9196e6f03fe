# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Pictures of a snapshot: treemaps by owner and by type, the heap by address, a K210's system
heap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from maixmem_cli.heap.objects import ASKER, STATE
from maixmem_cli.profiler import draw, maps
from maixmem_cli.snapshot.graph import ONLY_C
from maixmem_cli.snapshot.owners import Owner
from maixmem_cli.snapshot.view import View
from maixmem_cli.text import svg

_WIDE, _HIGH = 960, 360
_HEAD = 15  # pixels of a box that has its name above what it holds
_SMALL = 3  # pixels: less is not drawn
_DEEP = 5
_GREY = {STATE: draw.OTHER, ASKER: draw.EARLIER, ONLY_C: draw.EARLIER}
_COLUMNS = 128  # blocks of a row
Area = tuple[float, float, float, float]  #: x, y, width, height


@dataclass
class Box:
    """A part of a treemap, and its own parts."""

    name: str
    nbytes: int
    colour: str
    title: str
    parts: list[Box] = field(default_factory=list)


def svg_of(view: View) -> str:
    """All of them, one below the other."""
    pictures = [by_owner(view), by_type(view), by_address(view)]
    system = view.taken.system
    if system:
        pictures.append(maps.svg(system, view.taken.areas[0].pool))
    out = pictures[0]
    for picture in pictures[1:]:
        out = draw.above(out, picture)
    return out


def by_owner(view: View) -> str:
    """Who holds what, each in the one that holds it."""
    colours = _colours(view)
    boxes = [_box(root, colours) for root in view.owners]
    return _treemap("GC heap in use, by who holds it", boxes)


def _colours(view: View) -> dict[str, str]:
    """By the first names of the largest owners; what is nobody's is grey."""
    first = [o for root in view.owners for o in root.sorted() if root.kind not in _GREY]
    first.sort(key=lambda o: -o.nbytes)
    return dict(zip((o.path for o in first), draw.COLOURS))


def _box(owner: Owner, colours: dict[str, str], colour: str = draw.OTHER) -> Box:
    colour = _GREY.get(owner.kind, colours.get(owner.path, colour))
    kinds = ", ".join(t for t, _ in owner.types.most_common(3))
    title = f"{owner.path}: {owner.nbytes:,} bytes, {owner.objects:,} objects {kinds}".rstrip()
    parts = [_box(child, colours, colour) for child in owner.sorted()]
    return Box(owner.path, owner.nbytes, colour, title, parts)


def by_type(view: View) -> str:
    """Types with the memory that belongs to them."""
    colours = [*draw.COLOURS, *[draw.OTHER] * len(view.types)]
    boxes = [
        Box(t.name, t.nbytes, colour, f"{t.name}: {t.nbytes:,} bytes, {t.objects:,} objects")
        for t, colour in zip(view.types, colours)
    ]
    return _treemap("GC heap in use, by type", boxes)


def _treemap(title: str, boxes: Sequence[Box]) -> str:
    body = [svg.text(0, 14, title, "bold")]
    body += _drawn(boxes, (0, 22, _WIDE, _HIGH), 0)
    return svg.document(_WIDE, _HIGH + 30, body)


def _drawn(boxes: Sequence[Box], area: Area, deep: int) -> Iterator[str]:
    for box, place in squarified(boxes, area):
        x, y, wide, high = place
        if wide < _SMALL or high < _SMALL:
            continue
        yield svg.box(place, box.colour, "#fff", box.title, 0.4 + 0.06 * deep)
        letters = int((wide - 6) / svg.LETTER)
        named = high > _HEAD and letters > 2
        if named:
            yield svg.text(x + 3, y + 12, svg.shorten(_short(box.name, deep), letters), "small")
        if box.parts and deep < _DEEP:
            head = _HEAD if named else 0
            inside = (x + 2, y + head, wide - 4, high - head - 2)
            own = box.nbytes - sum(part.nbytes for part in box.parts)
            rest = [Box("", own, box.colour, box.title)] if own > 0 else []
            yield from _drawn([*box.parts, *rest], inside, deep + 1)


def _short(name: str, deep: int) -> str:
    """The last part of a name inside of what holds it."""
    if not deep:
        return name
    at = max(name.rfind("."), name.rfind("["), name.rfind(": "))
    return name[at:].lstrip(": ") if at > 0 else name


def squarified(boxes: Sequence[Box], area: Area) -> Iterator[tuple[Box, Area]]:
    """Places whose areas are as the bytes, nearly squares (Bruls, Huizing, van Wijk)."""
    x, y, wide, high = area
    todo = sorted((b for b in boxes if b.nbytes > 0), key=lambda b: -b.nbytes)
    total = sum(b.nbytes for b in todo)
    while todo and wide > 0 and high > 0:
        scale = wide * high / total
        side = min(wide, high)
        n = 1
        while n < len(todo) and _worst(todo[: n + 1], side, scale) <= _worst(
            todo[:n], side, scale
        ):
            n += 1
        row, todo = todo[:n], todo[n:]
        nbytes = sum(b.nbytes for b in row)
        thick = nbytes * scale / side
        along = 0.0
        for box in row:
            long = box.nbytes * scale / thick
            if wide >= high:
                yield box, (x, y + along, thick, long)
            else:
                yield box, (x + along, y, long, thick)
            along += long
        if wide >= high:
            x, wide = x + thick, wide - thick
        else:
            y, high = y + thick, high - thick
        total -= nbytes


def _worst(row: Sequence[Box], side: float, scale: float) -> float:
    """How far from a square the worst of a row is."""
    thick = sum(b.nbytes for b in row) * scale / side
    longs = [b.nbytes * scale / thick for b in row]
    return max(max(long / thick, thick / long) for long in longs)


def by_address(view: View) -> str:
    """Each block in the colour of who holds it; areas one below the other."""
    colours = _colours(view)
    of_block = {a: item for root in view.owners for a, item in _blocks(root, colours)}
    body, y = [svg.text(0, 14, "GC heap by address, white: free", "bold")], 22.0
    for area in view.taken.areas:
        pieces = [
            draw.Piece((a - area.pool) // area.block, n // area.block, *of_block[a])
            for a, n in area.sizes.items()
        ]
        blocks = len(area.states)
        row = f"{area.pool:#x}, one row is {_COLUMNS * area.block:,} bytes"
        body.append(svg.text(0, y + 11, row, "small"))
        body += draw.rows(pieces, blocks, _COLUMNS, y + 16)
        y += 16 + draw.map_height(blocks, _COLUMNS) + 8
    return svg.document(_WIDE, y, body)


def _blocks(
    owner: Owner, colours: dict[str, str], colour: str = draw.OTHER
) -> Iterator[tuple[int, tuple[str, str]]]:
    """(address, (colour, title)) of all that an owner has."""
    colour = _GREY.get(owner.kind, colours.get(owner.path, colour))
    for address in owner.members:
        yield address, (colour, owner.path)
    for child in owner.children.values():
        yield from _blocks(child, colours, colour)
