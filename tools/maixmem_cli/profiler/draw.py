# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Pictures of memory as SVG: the timeline of both heaps, the chunks of the system heap, the blocks
of the GC heap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from maixmem_report import kib

# Okabe and Ito's colours: told apart by everybody
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c564b")
FLAG = "#b00020"
OTHER, EARLIER, HOLE, LINE = "#7f7f7f", "#bdbdbd", "#ffffff", "#222222"
WIDTH = 960
_ROW_BYTES = 64 << 10  # of the system heap in one row
_ROW_BLOCKS = 256  # of the GC heap in one row
_ROW = 8
MARK_COLOURS = {"gc": "#009e73", "load": "#d55e00", "deinit": "#0072b2", "snapshot": "#cccccc"}


@dataclass(frozen=True)
class Piece:
    """A part of an address range: bytes from its beginning, its colour, what a pointer over it
    shows."""

    start: int
    size: int
    colour: str
    title: str


def svg(width: int, height: int, inside: str) -> str:
    """A whole picture."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}"'
        f' font-family="sans-serif" font-size="12">\n<rect width="{width}" '
        f'height="{height}" fill="#fff"/>\n{inside}</svg>\n'
    )


def above(first: str, second: str) -> str:
    """Two pictures, one below the other."""
    heights = [int(re.search(r'height="(\d+)"', s)[1]) for s in (first, second)]  # type: ignore[index]
    moved = f'<g transform="translate(0 {heights[0]})">{second}</g>'
    return svg(WIDTH, sum(heights), first + moved)


def rect(
    x: float, y: float, w: float, h: float, colour: str, title: str = "", opacity: float = 1
) -> str:
    """A filled box; a pointer over it shows the title."""
    shown = f"<title>{escape(title)}</title>" if title else ""
    seen = f' fill-opacity="{opacity}"' if opacity < 1 else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.2f}" height="{h:.1f}" '
        f'fill="{colour}"{seen}>{shown}</rect>\n'
    )


def text(x: float, y: float, words: str, anchor: str = "start", colour: str = LINE) -> str:
    """A line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
        f'fill="{colour}">{escape(words)}</text>\n'
    )


def rows(pieces: Iterable[Piece], total: int, per_row: int, top: float = 0) -> str:
    """Pieces of a range in rows, like text; what no piece covers stays white."""
    out = []
    height = -(-total // per_row) * _ROW
    for p in pieces:
        at, end = p.start, min(p.start + p.size, total)
        while at < end:
            row = at // per_row
            stop = min(end, (row + 1) * per_row)
            x, w = at % per_row * WIDTH / per_row, (stop - at) * WIDTH / per_row
            out.append(rect(x, top + row * _ROW, max(w, 0.4), _ROW - 1, p.colour, p.title))
            at = stop
    frame = (
        f'<rect x="0" y="{top}" width="{WIDTH}" height="{height}" fill="none" stroke="#888"/>\n'
    )
    return "".join(out) + frame


def map_height(total: int, per_row: int) -> int:
    """Pixels of what rows() draws."""
    return -(-total // per_row) * _ROW


def legend(names: Sequence[tuple[str, str]], top: float) -> tuple[str, int]:
    """(colour, name) in two columns; the text and its height."""
    out = []
    for i, (colour, name) in enumerate(names):
        x, y = i % 2 * WIDTH / 2, top + i // 2 * 18
        out.append(rect(x, y, 12, 12, colour) + text(x + 18, y + 10, name[:70]))
    return "".join(out), -(-len(names) // 2) * 18 + 6


def heap_map(
    pieces: Sequence[Piece], total: int, names: Sequence[tuple[str, str]], title: str
) -> str:
    """The system heap by address, 64 KiB a row."""
    key, key_height = legend(names, 26)
    height = 26 + key_height + map_height(total, _ROW_BYTES) + 6
    body = text(0, 14, f"{title}, one row is 64 KiB") + key
    return svg(WIDTH, height, body + rows(pieces, total, _ROW_BYTES, 26 + key_height))


def gc_map(owners: Sequence[tuple[str, str]], names: Sequence[tuple[str, str]], title: str) -> str:
    """The GC heap, one cell a block of 32 bytes; `owners` has (colour, title) of each block."""
    pieces, at = [], 0
    for (colour, name), group in groupby(owners):
        n = sum(1 for _ in group)
        if colour != HOLE:
            pieces.append(Piece(at, n, colour, f"{name}: {n * 32} bytes at block {at}"))
        at += n
    key, key_height = legend(names, 26)
    height = 26 + key_height + map_height(len(owners), _ROW_BLOCKS) + 6
    body = text(0, 14, f"{title}, one row is 8 KiB") + key
    return svg(WIDTH, height, body + rows(pieces, len(owners), _ROW_BLOCKS, 26 + key_height))


# --- timeline ---

_LEFT, _PLOT_W, _PLOT_H, _GAP = 80, 860, 150, 46


def _steps(
    points: Sequence[tuple[int, int]], x_of: float, first: int, top: float, most: int
) -> str:
    out, last = [], 0.0
    for i, (time, value) in enumerate(points):
        x = _LEFT + (time - first) * x_of
        y = top + _PLOT_H - value * _PLOT_H / most
        out.append(f"{x:.1f},{y:.1f}" if not i else f"{x:.1f},{last:.1f} {x:.1f},{y:.1f}")
        last = y
    return " ".join(out)


def _plot(
    name: str,
    points: Sequence[tuple[int, int]],
    total: int,
    top: float,
    colour: str,
    span: tuple[int, int],
) -> str:
    first, last = span
    x_of = _PLOT_W / max(1, last - first)
    floor = top + _PLOT_H
    line = _steps(points, x_of, first, top, total)
    area = f"{_LEFT},{floor} {line} {_LEFT + _PLOT_W},{floor}"
    peak = max((v for _, v in points), default=0)
    peak_y = floor - peak * _PLOT_H / total
    return (
        text(_LEFT, top - 6, f"{name}: peak {kib(peak)} of {kib(total)}")
        + f'<polygon points="{area}" fill="{colour}" fill-opacity="0.25"/>\n'
        + f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>\n'
        + f'<rect x="{_LEFT}" y="{top}" width="{_PLOT_W}" height="{_PLOT_H}" fill="none" '
        'stroke="#888"/>\n'
        + f'<line x1="{_LEFT}" x2="{_LEFT + _PLOT_W}" y1="{peak_y:.1f}" y2="{peak_y:.1f}" '
        f'stroke="{colour}" stroke-dasharray="4 3"/>\n'
        + text(_LEFT - 6, top + 10, kib(total), "end")
        + text(_LEFT - 6, floor, "0", "end")
    )


def timeline(
    gc: Sequence[tuple[int, int]],
    heap: Sequence[tuple[int, int]],
    totals: tuple[int, int],
    marks: Sequence[tuple[int, str, str]],
    flags: Sequence[tuple[int, int, str]],
    axis: str,
) -> str:
    """Both heaps over time. `gc`, `heap`: (time, bytes in use); `marks`: (time, kind, title);
    `flags`: (time, which plot, words): a moment that counts; `axis`: what the time is."""
    first, last = gc[0][0], max(gc[-1][0], gc[0][0] + 1)
    x_of = _PLOT_W / (last - first)
    tops = (30, 30 + _PLOT_H + _GAP)
    bottom = tops[1] + _PLOT_H
    out = [
        _plot("GC heap", gc, totals[0], tops[0], COLOURS[0], (first, last)),
        _plot("system heap", heap, totals[1], tops[1], COLOURS[5], (first, last)),
    ]
    for time, kind, title in marks:
        x, colour = _LEFT + (time - first) * x_of, MARK_COLOURS.get(kind, "#999999")
        out.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 10}" '
            f'stroke="{colour}" stroke-width="2">'
            f"<title>{escape(title)}</title></line>\n"
        )
    for time, plot, words in flags:
        out.append(_flag(_LEFT + (time - first) * x_of, tops[plot], words))
    kinds = sorted({kind for _, kind, _ in marks})
    for i, kind in enumerate(kinds):
        x = _LEFT + i * 110
        out.append(
            rect(x, bottom + 30, 10, 10, MARK_COLOURS.get(kind, "#999999"))
            + text(x + 14, bottom + 39, kind)
        )
    out.append(text(_LEFT, bottom + 24, "0"))
    out.append(text(_LEFT + _PLOT_W, bottom + 24, axis, "end"))
    return svg(WIDTH, bottom + 48, "".join(out))


def _flag(x: float, top: float, words: str) -> str:
    """A moment of a plot, with its words inside."""
    right = x > _LEFT + _PLOT_W / 2
    line = (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{top + _PLOT_H}" stroke="{FLAG}" '
        'stroke-width="1.5"/>\n'
    )
    at = x - 5 if right else x + 5
    return line + text(at, top + _PLOT_H - 8, words, "end" if right else "start", FLAG)
