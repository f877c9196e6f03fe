# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A flash map as a picture: one strip to scale, a numbered row for every region, conflicts hatched
in red."""

from __future__ import annotations

from maixmem_flash import FlashMap, FlashRegion
from maixmem_report import kib, wrap

from maixmem_cli.text import svg
from maixmem_cli.text.numbers import hexa

#: kind -> (colour in the picture, colour in the terminal, letter in both)
COLOURS = {
    "firmware": ("#26466d", "blue", "F"),
    "model": ("#3f8f47", "green", "M"),
    "filesystem": ("#8e5a88", "magenta", "S"),
    "config": ("#9c755f", "cyan", "C"),
    "data": ("#5f6b76", "white", "D"),
    "free": ("#ffffff", "bright_black", "."),
}
_WIDTH = 960
_LEFT = 20
_STRIP_TOP = 92
_LANE = 30  # height of one lane of the strip; overlapping regions get lanes of their own
_ROW = 22


def draw(m: FlashMap) -> str:
    """The map as a self-contained SVG document."""
    rows = sorted(m.regions, key=lambda r: (r.start, r.end))
    lanes = _lanes(rows)
    strip_bottom = _STRIP_TOP + _LANE * max([0, *lanes.values()]) + _LANE
    parts = [svg.text(_LEFT, 28, f"Flash, {kib(m.size)}: who owns which bytes", "title")]
    parts += svg.legend(_LEFT, 58, _legend(m, rows))
    parts += _strip(m, rows, lanes, strip_bottom)
    top = strip_bottom + 64
    for number, r in enumerate(rows, 1):
        parts += _region_row(r, number, top)
        top += _ROW
    verdicts = [("bad", c) for c in m.conflicts()] + [("warn", c) for c in m.risks()]
    top += 8
    for name, conflict in verdicts:
        for line in wrap(str(conflict), int(_WIDTH / svg.LETTER)):
            parts.append(svg.text(_LEFT, top, line, name))
            top += _ROW
    if not verdicts:
        parts.append(svg.text(_LEFT, top, "no conflicts, no risks"))
        top += _ROW
    return svg.document(_WIDTH + 2 * _LEFT, top, parts)


def _legend(m: FlashMap, rows: list[FlashRegion]) -> list[tuple[str, str]]:
    """The kinds of its regions, with the letters that their bars carry."""
    kinds = [k for k in COLOURS if k != "free" and any(r.kind == k for r in rows)]
    entries = [(COLOURS[k][0], f"{COLOURS[k][2]} {k}") for k in kinds]
    return entries + ([(svg.hatch("cross"), "two owners")] if m.conflicts() else [])


def _strip(m: FlashMap, rows: list[FlashRegion], lanes: dict[int, int], bottom: int) -> list[str]:
    height = bottom - _STRIP_TOP
    parts = [svg.box((_LEFT, _STRIP_TOP, _WIDTH, height), "#f4f4f4", "#999")]
    for number, r in enumerate(rows, 1):
        if r.kind == "free":
            continue
        x, width = _span(m, r.start, r.end)
        y = _STRIP_TOP + _LANE * lanes[id(r)]
        colour, _, letter = COLOURS[r.kind]
        parts.append(svg.box((x, y + 3, width, _LANE - 6), colour, "#333", str(r)))
        for label in (f"{number} {letter} {r.name}", f"{number} {letter}", str(number)):
            if len(label) * svg.LETTER < width:
                parts.append(svg.text(x + width / 2, y + 19, label, "mid on"))
                break
    for c in m.conflicts():
        x, width = _span(m, c.start, c.end)
        area = (x, _STRIP_TOP - 8, width, height + 16)
        parts.append(svg.box(area, svg.hatch("cross"), "#d00000", str(c)))
    return parts + _axis(m, bottom)


def _axis(m: FlashMap, y: int) -> list[str]:
    parts = []
    for i in range(17):
        x = _LEFT + _WIDTH * i / 16
        parts.append(svg.line((x, y, x, y + 5)))
        if i % 2 == 0:
            side = {0: "", 16: " end"}.get(i, " mid")
            parts.append(svg.text(x, y + 20, hexa(m.size * i // 16), "small mono" + side))
    parts.append(svg.text(_LEFT, y + 38, "flash address \u2192", "small"))
    return parts


def _region_row(r: FlashRegion, number: int, y: int) -> list[str]:
    colour, _, letter = COLOURS[r.kind]
    size = "bad" if r.intact is False else ""
    return [
        svg.box((_LEFT, y - 14, 34, 18), colour),
        svg.text(_LEFT + 17, y, f"{number} {letter}", "mid" + ("" if r.kind == "free" else " on")),
        svg.text(_LEFT + 46, y, f"{hexa(r.start)}..{hexa(r.end)}", "mono"),
        svg.text(_LEFT + 290, y, kib(r.end - r.start), "end"),
        svg.text(_LEFT + 306, y, svg.shorten(r.name, 34), size),
        svg.text(_LEFT + 560, y, r.source, "small"),
    ]


def _lanes(rows: list[FlashRegion]) -> dict[int, int]:
    """The first lane where a region meets nobody, for each that owns bytes."""
    ends: list[int] = []
    lanes = {}
    for r in rows:
        if r.kind == "free":
            continue
        lane = next((i for i, end in enumerate(ends) if end <= r.start), len(ends))
        ends[lane : lane + 1] = [r.end]
        lanes[id(r)] = lane
    return lanes


def _span(m: FlashMap, start: int, end: int) -> tuple[float, float]:
    """x and width of bytes on the strip: never thinner than 2, never outside."""
    x = min(_LEFT + _WIDTH * start / m.size, _LEFT + _WIDTH - 2.0)
    return x, max(2.0, min(_WIDTH * (end - start) / m.size, _LEFT + _WIDTH - x))
