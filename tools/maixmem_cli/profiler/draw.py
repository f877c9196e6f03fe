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

# Okabe and Ito's colours, told apart by everybody, without the red that leaks have
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442", "#8c564b", "#9e9ac8")
LEAK = "#d00000"  #: the one warning colour
GARBAGE = svg.hatch("lines")
_MOMENT = "#333333"
OTHER, EARLIER, HOLE = "#7f7f7f", "#bdbdbd", "#ffffff"
_FRAME = "#888"
WIDTH = 960
_ROW_BYTES = 64 << 10  # of the system heap in one row
_ROW_BLOCKS = 256  # of the GC heap in one row
_ROW = 8
#: of no line
MARK_COLOURS = {
    "gc": "#111111",
    "load": "#54278f",
    "deinit": "#00441b",
    "snapshot": "#d0d0d0",
    "camera": "#08306b",
    "display": "#a6761d",
    "thread": "#7a0177",
    "input": "#66a61e",
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


def legend(
    names: Sequence[tuple[str, str]], top: float, width: int = WIDTH
) -> tuple[list[str], int]:
    """(colour, name) in two columns, or one where it is narrow, and its height."""
    out = []
    columns = 2 if width > NARROW else 1
    letters = int((width / columns - 24) / svg.LETTER * 1.1)
    for i, (colour, name) in enumerate(names):
        x, y = i % columns * width / columns, top + i // columns * 18
        words = svg.shorten(name, letters)
        out += [svg.box((x, y, 12, 12), colour, "none"), svg.text(x + 18, y + 10, words)]
    return out, -(-len(names) // columns) * 18 + 6


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

NARROW = 400  #: pixels of a phone
_PLOT_H, _GAP = 170, 50
_LINE, _THIN = "#111111", 'vector-effect="non-scaling-stroke"'
_TOP, _ROOM = 30, 1.15  # pixels over the first plot; the capacity is so much lower than the frame
_TICK = 48  # pixels between two words of the axis
_FAR = 3  # times what was used: a capacity that is drawn at the edge, out of scale


@dataclass(frozen=True)
class Layer:
    """What a line has at each point of the timeline; `live`: not garbage."""

    colour: str
    name: str
    values: Sequence[int]
    live: bool = True


@dataclass(frozen=True)
class Plot:
    """A heap over time: at each point who has what, the lowest layer first; `warnings`: its
    leaks, in words."""

    name: str
    total: int
    layers: Sequence[Layer]
    warnings: Sequence[str] = ()

    @property
    def used(self) -> list[int]:
        """In use and garbage, at each point."""
        return [sum(values) for values in zip(*(n.values for n in self.layers))]

    @property
    def live(self) -> list[int]:
        return [sum(values) for values in zip(*(n.values for n in self.layers if n.live))]

    @property
    def to_scale(self) -> bool:
        """Whether its capacity is where the scale has it."""
        return self.total <= _FAR * max(self.used, default=0)

    @property
    def height(self) -> float:
        """Bytes at the upper edge."""
        most = self.total if self.to_scale else max(self.used, default=0) or 1
        return _ROOM * most


@dataclass(frozen=True)
class Moments:
    """What happens on the timeline, by place on it, 0 to 1. `marks`: (place, kind, title);
    `flags`: (place, which plot, -1 the last, words), what counts; `ticks`: (place, words) of the
    axis."""

    marks: Sequence[tuple[float, str, str]]
    flags: Sequence[tuple[float, int, str]]
    ticks: Sequence[tuple[float, str]]


class _Sheet:
    """A timeline of a width, in pixels."""

    def __init__(self, at: Sequence[float], width: int) -> None:
        self.at, self.width = at, width
        self.left = 80 if width > NARROW else 62
        self.title = self.left if width > NARROW else 6  # a long one has no more room
        self.wide = width - self.left - 16
        self.letters = int(self.wide / svg.LETTER)

    def edge(self, values: Sequence[float], most: float) -> str:
        """Each value lasts to the next point."""
        until = [*self.at[1:], self.at[-1]]
        ends = zip(self.at, until, (_PLOT_H - v * _PLOT_H / most for v in values))
        return " ".join(
            f"{a * self.wide:.1f},{y:.1f} {b * self.wide:.1f},{y:.1f}" for a, b, y in ends
        )

    def areas(self, plot: Plot) -> list[str]:
        """The layers, then what is in use as a line, and the outline of all of it."""
        out, below = [], [0] * len(self.at)
        floor = self.edge(below, plot.height)
        for layer in plot.layers:
            below = [a + v for a, v in zip(below, layer.values)]
            edge = self.edge(below, plot.height)
            path = f"M{edge} {' '.join(reversed(floor.split()))}Z"
            title = f"{layer.name}: {kib(max(layer.values, default=0))} at most"
            out.append(svg.shape(path, layer.colour, title))
            floor = edge
        for values, wide in ((plot.live, 2), (plot.used, 0.7)):
            line = self.edge(values, plot.height)
            stroke = f'stroke="{_LINE}" stroke-width="{wide}" {_THIN}'
            out.append(f'<polyline points="{line}" fill="none" {stroke}/>')
        return out

    def plot(self, plot: Plot, top: float, flags: Sequence[tuple[float, str]]) -> list[str]:
        full = _PLOT_H - plot.total * _PLOT_H / plot.height if plot.to_scale else 1.0
        lines = [svg.line((0, full, self.wide, full), _LINE, dash="7 4", width=1.5)]
        lines += [
            svg.line((x * self.wide, 0, x * self.wide, _PLOT_H), _MOMENT, "2 3") for x, _ in flags
        ]
        capacity = f"capacity {kib(plot.total)}"
        capacity += "" if plot.to_scale else ", far above this scale"
        above = -5 if plot.to_scale else 13
        peak = max(plot.used, default=0)
        area = (self.left, top, self.wide, _PLOT_H)
        out = [
            svg.text(
                self.title, top - 6, f"{plot.name}: peak {kib(peak)} of {kib(plot.total)}", "bold"
            ),
            svg.window(area, [*self.areas(plot), *lines]),
            svg.box(area, "none", _FRAME),
            svg.text(self.left + self.wide - 5, top + full + above, capacity, "end small"),
            svg.text(self.left - 6, top + 10, kib(int(plot.height)), "end small"),
            svg.text(self.left - 6, top + _PLOT_H, "0", "end small"),
        ]
        below = top + full + (17 if plot.to_scale else 30)
        for k, words in enumerate(plot.warnings):
            shown = svg.shorten(words, self.letters)
            out.append(svg.label((self.left + 6, below + 17 * k), shown, LEAK))
        for k, (x, words) in enumerate(flags):
            out.append(self.flag(x, below + 17 * (len(plot.warnings) + k), words))
        return out

    def flag(self, at: float, y: float, words: str) -> str:
        """The words of a moment, inside its plot."""
        right = at > 0.5
        x = self.left + at * self.wide + (-5 if right else 5)
        return svg.label((x, y), svg.shorten(words, self.letters), _MOMENT, end=right, place=at)

    def marks(self, moments: Moments, top: float) -> tuple[list[str], float]:
        """The band of marks with the axis below it, what their colours mean, and where it ends."""
        marks = [
            svg.line(
                (x * self.wide, 0, x * self.wide, 10),
                MARK_COLOURS.get(k, _FRAME),
                width=2,
                title=t,
            )
            for x, k, t in moments.marks
        ]
        out = [svg.window((self.left, top, self.wide, 10), marks)]
        last = -float(_TICK)
        for x, words in moments.ticks:
            if x * self.wide - last < _TICK:
                continue
            last = x * self.wide
            out.append(svg.text(self.left + x * self.wide, top + 24, words, "small mid", x))
        kinds = sorted({kind for _, kind, _ in moments.marks})
        each, y = 80, top + 50
        a_row = max(1, self.wide // each)
        for i, kind in enumerate(kinds):
            x, y = self.left + i % a_row * each, top + 50 + i // a_row * 16
            out.append(svg.box((x, y - 9, 10, 10), MARK_COLOURS.get(kind, _FRAME), "none"))
            out.append(svg.text(x + 14, y, kind, "small"))
        return out, y


def timeline(
    at: Sequence[float], plots: Sequence[Plot], moments: Moments, axis: str, width: int = WIDTH
) -> str:
    """Heaps over time, one below the other. `at`: the place of each point, 0 to 1; `axis`: what
    the time is."""
    sheet, out = _Sheet(at, width), []
    for i, plot in enumerate(plots):
        flags = [(x, words) for x, k, words in moments.flags if k % len(plots) == i]
        out += sheet.plot(plot, _TOP + i * (_PLOT_H + _GAP), flags)
    bottom = _TOP + len(plots) * (_PLOT_H + _GAP) - _GAP
    band, y = sheet.marks(moments, bottom)
    out += [*band, svg.text(sheet.left + sheet.wide, bottom + 38, axis, "end small")]
    names = dict.fromkeys((n.colour, n.name) for plot in plots for n in plot.layers)
    named = sorted(names, key=lambda n: n[0] != LEAK)
    key, height = legend(named, y + 16, width)
    return svg.document(width, y + 16 + height, [*out, *key], scales=True)


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
