# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Pieces of the pictures: boxes, texts, hatches that stay apart when they are printed in grey, and
legends."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from maixmem_cli.text.output import printable

STYLE = (
    "text{font:12px "
    "sans-serif;fill:#111}.small{font-size:11px;fill:#333}.title{font-size:15px;font-weight:bold}"
    ".bold{font-weight:bold}.mono{font-family:monospace}.end{text-anchor:end}"
    ".mid{text-anchor:middle}"
    ".bad{fill:#b00000;font-weight:bold}.warn{fill:#7a4500}.on{fill:#fff}"
)
#: name -> (background, line, the path of the lines in a tile of 8 by 8)
_HATCHES = {
    "lines": ("#e3e7ea", "#9aa4ad", "M-2,2 L2,-2 M0,8 L8,0 M6,10 L10,6"),
    "dots": ("#d7e8f7", "#2b6ca3", "M2,2 h1 M6,6 h1"),
    "cross": ("#ffffff", "#d00000", "M0,0 L8,8 M8,0 L0,8"),
}
LETTER = 7.2  # pixels of a letter of 12 pixels, at most


def document(width: float, height: float, body: Sequence[str], *, scales: bool = False) -> str:
    """A self-contained SVG document on white; one that scales is as wide as what it is in."""
    size = 'width="100%"' if scales else f'width="{width:.0f}" height="{height:.0f}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:.0f} {height:.0f}">'
    )
    parts = "\n".join(body)
    return (
        f'{head}\n<style>{STYLE}</style>\n{_patterns()}\n<rect width="100%" height="100%" '
        f'fill="#fff"/>\n{parts}\n</svg>\n'
    )


def _patterns() -> str:
    tiles = "".join(
        f'<pattern id="{name}" width="8" height="8" patternUnits="userSpaceOnUse"><rect '
        f'width="8" height="8" fill="{back}"/>'
        f'<path d="{path}" stroke="{line}" stroke-width="1.4"/></pattern>'
        for name, (back, line, path) in _HATCHES.items()
    )
    return f"<defs>{tiles}</defs>"


def hatch(name: str) -> str:
    """The fill of a hatch."""
    return f"url(#{name})"


def box(
    area: tuple[float, float, float, float],
    fill: str,
    stroke: str = "#333",
    title: str = "",
    opacity: float = 1.0,
) -> str:
    """A rectangle (x, y, width, height); the title shows under the mouse."""
    x, y, width, height = area
    place = (
        f'x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{max(0.0, height):.1f}"'
    )
    seen = f' fill-opacity="{opacity}"' if opacity < 1 else ""
    return _titled(f'rect {place} fill="{fill}" stroke="{stroke}"{seen}', title)


def _titled(shape: str, title: str) -> str:
    if not title:
        return f"<{shape}/>"
    return f"<{shape}><title>{escape(printable(title))}</title></{shape.partition(' ')[0]}>"


def text(x: float, y: float, words: str, kind: str = "", at: float | None = None) -> str:
    """A line of text; `kind` are classes of STYLE; `at`: its place in a window that can be moved,
    0 to 1."""
    moved = "" if at is None else f' data-at="{at:.4f}"'
    shown = escape(printable(words))
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}"{moved}>{shown}</text>'


def label(
    at: tuple[float, float],
    words: str,
    colour: str,
    *,
    end: bool = False,
    place: float | None = None,
) -> str:
    """A line of bold text on white, legible on any picture; `end`: to the left of (x, y);
    `place`: as text()'s `at`."""
    x, y = at
    moved = "" if place is None else f' data-at="{place:.4f}"'
    wide = len(words) * LETTER * 0.92 + 6
    first = x - wide + 3 if end else x - 3
    shown = escape(printable(words))
    kind = "bold end" if end else "bold"
    return (
        f'<rect x="{first:.1f}" y="{y - 12:.1f}" width="{wide:.1f}" height="16" fill="#fff" '
        f'fill-opacity="0.85"{moved}/><text x="{x:.1f}" y="{y:.1f}" class="{kind}" '
        f'style="fill:{colour}"{moved}>{shown}</text>'
    )


def shape(path: str, fill: str, title: str = "") -> str:
    """What a path (of SVG's d) encloses."""
    return _titled(f'path d="{path}" fill="{fill}"', title)


def window(area: tuple[float, float, float, float], body: Sequence[str]) -> str:
    """A part (x, y, width, height) with coordinates of its own, that a script can zoom."""
    x, y, width, height = area
    place = f'x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}"'
    parts = "\n".join(body)
    return (
        f'<svg class="window" {place} viewBox="0 0 {width:.0f} {height:.0f}" '
        f'preserveAspectRatio="none">{parts}</svg>'
    )


def line(
    ends: tuple[float, float, float, float],
    stroke: str = "#999",
    dash: str = "",
    width: float = 1,
    title: str = "",
) -> str:
    """A line (x1, y1, x2, y2), dashed with `dash`; the title shows under the mouse."""
    place = 'x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"'.format(*ends)
    more = f' stroke-dasharray="{dash}"' if dash else ""
    return _titled(f'line {place} stroke="{stroke}" stroke-width="{width}"{more}', title)


def legend(x: float, y: float, entries: Sequence[tuple[str, str]]) -> list[str]:
    """Boxes with words beside them, in one row: [(fill, words)]."""
    parts = []
    for fill, words in entries:
        parts += [box((x, y - 11, 18, 14), fill), text(x + 24, y, words, "small")]
        x += 24 + len(words) * 6.2 + 18
    return parts


def shorten(words: str, letters: int) -> str:
    """The words, or their beginning and two dots."""
    return words if len(words) <= letters else words[: max(1, letters - 2)] + ".."
