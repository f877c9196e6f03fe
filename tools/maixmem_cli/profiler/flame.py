# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Who called the lines that hold the bytes, as a flame graph: one row a depth of calls, the
outermost on top, as wide as its bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from maixmem_report import kib

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler import draw
from maixmem_cli.profiler.stacks import Chain
from maixmem_cli.text import svg

_ROW, _CHARACTER, _LEAST = 18, 7, 1.0  # pixels: of a row, of a letter, of what is drawn at all


def picture(chains: Sequence[tuple[Chain, int]], names: dict[Place, str], title: str) -> str:
    """An SVG of (chain, bytes). `names`: what a place is called."""
    total = sum(n for _, n in chains) or 1
    width = {p: i for i, p in enumerate(names)}
    rows: list[str] = []
    deepest = _level(chains, total, names, width, rows, 0, 0.0)
    head = svg.text(0, 14, f"{title}: {kib(total if chains else 0)}")
    return svg.document(draw.WIDTH, 26 + _ROW * deepest, [head, *rows])


def _level(
    chains: Sequence[tuple[Chain, int]],
    total: int,
    names: dict[Place, str],
    order: dict[Place, int],
    rows: list[str],
    depth: int,
    x: float,
) -> int:
    """Draws what these chains have at a depth and below; how deep it goes."""
    amounts: Counter[Place] = Counter()
    below: dict[Place, list[tuple[Chain, int]]] = {}
    for chain, n in chains:
        if depth < len(chain):
            amounts[chain[depth]] += n
            below.setdefault(chain[depth], []).append((chain, n))
    deepest = depth
    for place, n in amounts.most_common():
        w = n * draw.WIDTH / total
        if w >= _LEAST:
            colour = draw.COLOURS[order.get(place, 0) % len(draw.COLOURS)]
            rows.append(_box(x, 22 + depth * _ROW, w, colour, names.get(place, str(place)), n))
            under = _level(below[place], total, names, order, rows, depth + 1, x)
            deepest = max(deepest, depth + 1, under)
        x += w
    return deepest


def _box(x: float, y: float, w: float, colour: str, name: str, n: int) -> str:
    shown = name[: int(w / _CHARACTER)] if w > 4 * _CHARACTER else ""
    area = (x, y, max(w - 1, 0.5), _ROW - 1)
    drawn = svg.box(area, colour, "none", f"{name}: {kib(n)}", 0.55)
    return drawn + (svg.text(x + 3, y + 13, shown) if shown else "")
