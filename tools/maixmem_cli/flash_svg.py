# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A flash map as a picture: one strip to scale, a numbered row for every region, conflicts hatched in red."""

from __future__ import annotations

from xml.sax.saxutils import escape

from maixmem import hexa, kib, wrap
from maixmem_flash import FlashMap, FlashRegion

from maixmem_cli.output import printable

#: kind -> (colour in the picture, colour in the terminal, letter in the terminal)
COLOURS = {
    "firmware": ("#4c78a8", "blue", "F"),
    "model": ("#59a14f", "green", "M"),
    "filesystem": ("#b07aa1", "magenta", "S"),
    "config": ("#9c755f", "cyan", "C"),
    "data": ("#8d99a6", "white", "D"),
    "free": ("#ffffff", "bright_black", "."),
}
_WIDTH = 960
_LEFT = 20
_STRIP_TOP = 64
_LANE = 30  # height of one lane of the strip; overlapping regions get lanes of their own
_ROW = 22
_LETTER = 8  # pixels of a letter, at most
_STYLE = (
    "text{font:13px sans-serif;fill:#222}.mono{font-family:monospace}.small{font-size:11px}"
    ".title{font-size:16px;font-weight:bold}.bad{fill:#c00000}.warn{fill:#a15c00}"
    ".on{fill:#fff;text-anchor:middle}.dark{fill:#222}.tick{font:11px monospace;text-anchor:middle}"
    ".first{text-anchor:start}.last{text-anchor:end}"
)
_HATCH = (
    '<defs><pattern id="bad" width="6" height="6" patternTransform="rotate(45)" patternUnits="userSpaceOnUse">'
    '<rect width="6" height="6" fill="#ffd0d0"/><rect width="3" height="6" fill="#d00000"/></pattern></defs>'
)


def draw(m: FlashMap) -> str:
    """The map as a self-contained SVG document."""
    rows = sorted(m.regions, key=lambda r: (r.start, r.end))
    lanes = _lanes(rows)
    strip_bottom = _STRIP_TOP + _LANE * max([0, *lanes.values()]) + _LANE
    parts = _strip(m, rows, lanes, strip_bottom)
    top = strip_bottom + 56
    for number, r in enumerate(rows, 1):
        parts += _region_row(r, number, top)
        top += _ROW
    verdicts = [("bad", c) for c in m.conflicts()] + [("warn", c) for c in m.risks()]
    top += 8
    for name, clash in verdicts:
        for line in wrap(str(clash), _WIDTH // _LETTER):
            parts.append(_text(_LEFT, top, line, name))
            top += _ROW
    if not verdicts:
        parts.append(_text(_LEFT, top, "no conflicts, no risks", ""))
        top += _ROW
    width = _WIDTH + 2 * _LEFT
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" viewBox="0 0 {width} {top}">'
    body = "\n".join(parts)
    return f'{head}\n<style>{_STYLE}</style>\n{_HATCH}\n<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n'


def _strip(m: FlashMap, rows: list[FlashRegion], lanes: dict[int, int], bottom: int) -> list[str]:
    height = bottom - _STRIP_TOP
    parts = [
        _text(_LEFT, 28, f"Flash, {kib(m.size)}", "title"),
        _box((_LEFT, _STRIP_TOP, _WIDTH, height), "#f4f4f4", "#999"),
    ]
    for number, r in enumerate(rows, 1):
        if r.kind == "free":
            continue
        x, width = _span(m, r.start, r.end)
        y = _STRIP_TOP + _LANE * lanes[id(r)]
        parts.append(_box((x, y + 3, width, _LANE - 6), COLOURS[r.kind][0], "#333", str(r)))
        label = r.name if len(r.name) * _LETTER < width else str(number)
        if len(label) * _LETTER < width:
            parts.append(_text(x + width / 2, y + 20, label, "on"))
    for c in m.conflicts():
        x, width = _span(m, c.start, c.end)
        parts.append(_box((x, _STRIP_TOP - 8, width, height + 8), "url(#bad)", "#d00000", str(c)))
    return parts + _axis(m, bottom)


def _axis(m: FlashMap, y: int) -> list[str]:
    parts = []
    for i in range(17):
        x = _LEFT + _WIDTH * i / 16
        line = f'<line x1="{x:.1f}" y1="{y}" x2="{x:.1f}" y2="{y + 5}" stroke="#999"/>'
        parts.append(line)
        if i % 2 == 0:
            end = {0: " first", 16: " last"}.get(i, "")
            parts.append(_text(x, y + 18, hexa(m.size * i // 16), "tick" + end))
    return parts


def _region_row(r: FlashRegion, number: int, y: int) -> list[str]:
    where = f"{hexa(r.start)}..{hexa(r.end)}"
    return [
        _box((_LEFT, y - 14, 20, 18), COLOURS[r.kind][0], "#333"),
        _text(_LEFT + 10, y, str(number), "on dark" if r.kind == "free" else "on"),
        _text(_LEFT + 30, y, where, "mono"),
        _text(_LEFT + 200, y, kib(r.end - r.start), ""),
        _text(_LEFT + 290, y, r.name, "bad" if r.intact is False else ""),
        _text(_LEFT + 560, y, r.source, "small"),
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


def _box(area: tuple[float, float, float, float], fill: str, stroke: str, title: str = "") -> str:
    x, y, width, height = area
    place = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}"'
    shape = f'<rect {place} fill="{fill}" stroke="{stroke}"'
    return f"{shape}><title>{escape(printable(title))}</title></rect>" if title else f"{shape}/>"


def _text(x: float, y: float, text: str, name: str) -> str:
    return f'<text x="{x:.1f}" y="{y}" class="{name}">{escape(printable(text))}</text>'
