# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Pictures of memory as SVG: the timeline of both heaps, the chunks of the system heap, the blocks
of the GC heap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from maixmem_report import kib

from maixmem_cli.text import svg

# Okabe and Ito's colours: told apart by everybody
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c564b")
FLAG = "#b00000"
OTHER, EARLIER, HOLE = "#7f7f7f", "#bdbdbd", "#ffffff"
_FRAME = "#888"
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


def above(first: str, second: str) -> str:
    """Two pictures, one below the other."""
    heights = [int(re.search(r'height="(\d+)"', s)[1]) for s in (first, second)]  # type: ignore[index]
    moved = f'<g transform="translate(0 {heights[0]})">{second}</g>'
    return svg.document(WIDTH, sum(heights), [first, moved])


def rows(pieces: Iterable[Piece], total: int, per_row: int, top: float = 0) -> list[str]:
    """Pieces of a range in rows, like text; what no piece covers stays white."""
    out = []
    height = -(-total // per_row) * _ROW
    for p in pieces:
        at, end = p.start, min(p.start + p.size, total)
        while at < end:
            row = at // per_row
            stop = min(end, (row + 1) * per_row)
            x, w = at % per_row * WIDTH / per_row, (stop - at) * WIDTH / per_row
            area = (x, top + row * _ROW, max(w, 0.4), _ROW - 1)
            out.append(svg.box(area, p.colour, "none", p.title))
            at = stop
    return [*out, svg.box((0, top, WIDTH, height), "none", _FRAME)]


def map_height(total: int, per_row: int) -> int:
    """Pixels of what rows() draws."""
    return -(-total // per_row) * _ROW


def legend(names: Sequence[tuple[str, str]], top: float) -> tuple[list[str], int]:
    """(colour, name) in two columns, and its height."""
    out = []
    for i, (colour, name) in enumerate(names):
        x, y = i % 2 * WIDTH / 2, top + i // 2 * 18
        out += [svg.box((x, y, 12, 12), colour, "none"), svg.text(x + 18, y + 10, name[:70])]
    return out, -(-len(names) // 2) * 18 + 6


def heap_map(
    pieces: Sequence[Piece], total: int, names: Sequence[tuple[str, str]], title: str
) -> str:
    """The system heap by address, 64 KiB a row."""
    key, key_height = legend(names, 26)
    height = 26 + key_height + map_height(total, _ROW_BYTES) + 6
    body = [svg.text(0, 14, f"{title}, one row is 64 KiB"), *key]
    return svg.document(WIDTH, height, [*body, *rows(pieces, total, _ROW_BYTES, 26 + key_height)])


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
    body = [svg.text(0, 14, f"{title}, one row is 8 KiB"), *key]
    return svg.document(
        WIDTH, height, [*body, *rows(pieces, len(owners), _ROW_BLOCKS, 26 + key_height)]
    )


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
) -> list[str]:
    first, last = span
    x_of = _PLOT_W / max(1, last - first)
    floor = top + _PLOT_H
    line = _steps(points, x_of, first, top, total)
    area = f"{_LEFT},{floor} {line} {_LEFT + _PLOT_W},{floor}"
    peak = max((v for _, v in points), default=0)
    peak_y = floor - peak * _PLOT_H / total
    return [
        svg.text(_LEFT, top - 6, f"{name}: peak {kib(peak)} of {kib(total)}"),
        f'<polygon points="{area}" fill="{colour}" fill-opacity="0.25"/>',
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>',
        svg.box((_LEFT, top, _PLOT_W, _PLOT_H), "none", _FRAME),
        svg.line((_LEFT, peak_y, _LEFT + _PLOT_W, peak_y), colour, "4 3"),
        svg.text(_LEFT - 6, top + 10, kib(total), "end"),
        svg.text(_LEFT - 6, floor, "0", "end"),
    ]


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
        *_plot("GC heap", gc, totals[0], tops[0], COLOURS[0], (first, last)),
        *_plot("system heap", heap, totals[1], tops[1], COLOURS[5], (first, last)),
    ]
    for time, kind, title in marks:
        x, colour = _LEFT + (time - first) * x_of, MARK_COLOURS.get(kind, "#999999")
        out.append(svg.line((x, bottom, x, bottom + 10), colour, width=2, title=title))
    for time, plot, words in flags:
        out += _flag(_LEFT + (time - first) * x_of, tops[plot], words)
    for i, kind in enumerate(sorted({kind for _, kind, _ in marks})):
        area = (_LEFT + i * 110, bottom + 30, 10, 10)
        out.append(svg.box(area, MARK_COLOURS.get(kind, "#999999"), "none"))
        out.append(svg.text(area[0] + 14, bottom + 39, kind))
    out.append(svg.text(_LEFT, bottom + 24, "0"))
    out.append(svg.text(_LEFT + _PLOT_W, bottom + 24, axis, "end"))
    return svg.document(WIDTH, bottom + 48, out)


def _flag(x: float, top: float, words: str) -> list[str]:
    """A moment of a plot, with its words inside."""
    right = x > _LEFT + _PLOT_W / 2
    at, kind = (x - 5, "bad end") if right else (x + 5, "bad")
    line = svg.line((x, top, x, top + _PLOT_H), FLAG, width=1.5)
    return [line, svg.text(at, top + _PLOT_H - 8, words, kind)]
