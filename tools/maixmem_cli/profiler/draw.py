# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Pictures of memory as SVG: the timeline of both heaps, the chunks of the system heap, the blocks
of the GC heap, chains of calls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from maixmem_report import kib

from maixmem_cli.emulator.readers.tracer import Place
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
MARK_COLOURS = {
    "gc": "#009e73",
    "load": "#d55e00",
    "deinit": "#0072b2",
    "snapshot": "#cccccc",
    "camera": "#56b4e9",
    "display": "#8c564b",
    "input": "#f0e442",
}


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
_LINE, _THIN = "#333", 'vector-effect="non-scaling-stroke"'
_TOP, _ROOM = 30, 1.2  # pixels over the first plot; the highest is so much lower than the frame


@dataclass(frozen=True)
class Layer:
    """What a line has at each point of the timeline."""

    colour: str
    name: str
    values: Sequence[int]


@dataclass(frozen=True)
class Plot:
    """A heap over time: `most` in use between each point and the one before, and who has it."""

    name: str
    total: int
    most: Sequence[int]
    layers: Sequence[Layer]

    @property
    def height(self) -> int:
        """Bytes at the upper edge."""
        return max(1, min(self.total, int(_ROOM * max(self.most, default=0))))


@dataclass(frozen=True)
class Moments:
    """What happens on the timeline, by place on it, 0 to 1. `marks`: (place, kind, title);
    `flags`: (place, which plot, words), what counts; `ticks`: (place, words) of the axis."""

    marks: Sequence[tuple[float, str, str]]
    flags: Sequence[tuple[float, int, str]]
    ticks: Sequence[tuple[float, str]]


def _edge(from_: Sequence[float], to: Sequence[float], values: Sequence[int], most: int) -> str:
    """Steps: each value from one place to another."""
    ends = zip(from_, to, (_PLOT_H - v * _PLOT_H / most for v in values))
    return " ".join(f"{a * _PLOT_W:.1f},{y:.1f} {b * _PLOT_W:.1f},{y:.1f}" for a, b, y in ends)


def _areas(at: Sequence[float], plot: Plot) -> list[str]:
    """What each line has lasts until the next point; the most was before it."""
    out, below = [], [0] * len(at)
    until, since = [*at[1:], at[-1]], [at[0], *at[:-1]]
    floor = _edge(at, until, below, plot.height)
    for layer in plot.layers:
        below = [a + v for a, v in zip(below, layer.values)]
        edge = _edge(at, until, below, plot.height)
        path = f"M{edge} {' '.join(reversed(floor.split()))}Z"
        title = f"{layer.name}: {kib(max(layer.values, default=0))} at most"
        out.append(svg.shape(path, layer.colour, title, 0.8))
        floor = edge
    line = _edge(since, at, plot.most, plot.height)
    return [*out, f'<polyline points="{line}" fill="none" stroke="{_LINE}" {_THIN}/>']


def _plot(at: Sequence[float], plot: Plot, top: float, flags: Sequence[float]) -> list[str]:
    peak, floor = max(plot.most, default=0), top + _PLOT_H
    lines = [svg.line((x * _PLOT_W, 0, x * _PLOT_W, _PLOT_H), FLAG, width=1.5) for x in flags]
    return [
        svg.text(_LEFT, top - 6, f"{plot.name}: peak {kib(peak)} of {kib(plot.total)}"),
        svg.window((_LEFT, top, _PLOT_W, _PLOT_H), [*_areas(at, plot), *lines]),
        svg.box((_LEFT, top, _PLOT_W, _PLOT_H), "none", _FRAME),
        svg.text(_LEFT - 6, top + 10, kib(plot.height), "end"),
        svg.text(_LEFT - 6, floor, "0", "end"),
    ]


def timeline(at: Sequence[float], plots: Sequence[Plot], moments: Moments, axis: str) -> str:
    """Heaps over time, one below the other. `at`: the place of each point, 0 to 1; `axis`: what
    the time is."""
    out: list[str] = []
    for i, plot in enumerate(plots):
        top = _TOP + i * (_PLOT_H + _GAP)
        flags = [(x, words) for x, k, words in moments.flags if k == i]
        out += _plot(at, plot, top, [x for x, _ in flags])
        out += [_flag(x, top + _PLOT_H - 8 - 15 * k, words) for k, (x, words) in enumerate(flags)]
    bottom = _TOP + len(plots) * (_PLOT_H + _GAP) - _GAP
    marks = [
        svg.line(
            (x * _PLOT_W, 0, x * _PLOT_W, 10), MARK_COLOURS.get(k, "#999999"), width=2, title=t
        )
        for x, k, t in moments.marks
    ]
    out.append(svg.window((_LEFT, bottom, _PLOT_W, 10), marks))
    for x, words in moments.ticks:
        out.append(svg.text(_LEFT + x * _PLOT_W, bottom + 24, words, "small mid", x))
    out.append(svg.text(_LEFT + _PLOT_W, bottom + 40, axis, "end"))
    kinds = sorted({kind for _, kind, _ in moments.marks})
    for i, kind in enumerate(kinds):
        area = (_LEFT + i * 90, bottom + 46, 10, 10)
        out.append(svg.box(area, MARK_COLOURS.get(kind, "#999999"), "none"))
        out.append(svg.text(area[0] + 14, bottom + 55, kind))
    named = {layer.colour: layer.name for plot in plots for layer in plot.layers}
    key, height = legend([*named.items()], bottom + 66)
    return svg.document(WIDTH, bottom + 66 + height, [*out, *key])


def _flag(at: float, y: float, words: str) -> str:
    """The words of a moment, inside its plot."""
    right = at > 0.5
    x = _LEFT + at * _PLOT_W + (-5 if right else 5)
    return svg.text(x, y, words, "bad end" if right else "bad", at)


# --- flame graph: one row a depth of calls, the outermost on top, as wide as its bytes ---

_LAYER, _CHARACTER, _LEAST = 18, 7, 1.0  # pixels: of a row, of a letter, of what is drawn at all


def flame(
    chains: Sequence[tuple[tuple[Place, ...], int]], names: dict[Place, str], title: str
) -> str:
    """An SVG of (chain, bytes). `names`: what a place is called."""
    total = sum(n for _, n in chains) or 1
    width = {p: i for i, p in enumerate(names)}
    rows: list[str] = []
    deepest = _level(chains, total, names, width, rows, 0, 0.0)
    head = svg.text(0, 14, f"{title}: {kib(total if chains else 0)}")
    return svg.document(WIDTH, 26 + _LAYER * deepest, [head, *rows])


def _level(
    chains: Sequence[tuple[tuple[Place, ...], int]],
    total: int,
    names: dict[Place, str],
    order: dict[Place, int],
    rows: list[str],
    depth: int,
    x: float,
) -> int:
    """Draws what these chains have at a depth and below; how deep it goes."""
    amounts: Counter[Place] = Counter()
    below: dict[Place, list[tuple[tuple[Place, ...], int]]] = {}
    for chain, n in chains:
        if depth < len(chain):
            amounts[chain[depth]] += n
            below.setdefault(chain[depth], []).append((chain, n))
    deepest = depth
    for place, n in amounts.most_common():
        w = n * WIDTH / total
        if w >= _LEAST:
            colour = COLOURS[order.get(place, 0) % len(COLOURS)]
            rows.append(_box(x, 22 + depth * _LAYER, w, colour, names.get(place, str(place)), n))
            under = _level(below[place], total, names, order, rows, depth + 1, x)
            deepest = max(deepest, depth + 1, under)
        x += w
    return deepest


def _box(x: float, y: float, w: float, colour: str, name: str, n: int) -> str:
    shown = name[: int(w / _CHARACTER)] if w > 4 * _CHARACTER else ""
    area = (x, y, max(w - 1, 0.5), _LAYER - 1)
    drawn = svg.box(area, colour, "none", f"{name}: {kib(n)}", 0.55)
    return drawn + (svg.text(x + 3, y + 13, shown) if shown else "")
