# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The memory of a project over time as a picture: a column for each step, both heaps on one axis
of time."""

from __future__ import annotations

import textwrap

from maixmem_report import kib

from maixmem_cli.plan.fit import Fit, Step
from maixmem_cli.text import svg
from maixmem_cli.text.output import printable

_COLUMN, _GAP, _LEFT, _RIGHT = 84, 10, 92, 130
_HEIGHT, _TOP, _BETWEEN = 190, 84, 54
_LETTERS = 11  # of a step's name on one line
_NAMES = {"heap": "System heap: models, camera, display", "gc": "GC heap: Python, images, pools"}
_TAKEN, _STAYS, _PASSING = svg.hatch("lines"), "#1f4e79", svg.hatch("dots")
_LEGEND = (
    (_TAKEN, "used before"),
    (_STAYS, "stays"),
    (_PASSING, "only while the step runs"),
    (svg.hatch("cross"), "missing"),
)


def draw(fit: Fit) -> str:
    """The SVG document."""
    width = _LEFT + len(fit.steps) * (_COLUMN + _GAP) + _RIGHT
    build = fit.project.firmware
    verdict = "fits" if fit.fits else "DOES NOT FIT"
    title = f"{verdict}: firmware {build.name}, GC heap {kib(fit.project.gc_heap)}"
    body = [svg.text(14, 24, title, "title" if fit.fits else "title bad")]
    body += svg.legend(14, 52, _LEGEND)
    top = _TOP
    for region in ("heap", "gc"):
        if any(s.region == region for s in fit.steps):
            body += _panel(fit.steps, region, top, width)
            top += _HEIGHT + _BETWEEN
    bottom = top - _BETWEEN
    lines = 0
    for i, step in enumerate(fit.steps):
        names = _name(step)
        lines = max(lines, len(names))
        x = _LEFT + i * (_COLUMN + _GAP) + _COLUMN / 2
        for k, words in enumerate(names):
            body.append(svg.text(x, bottom + 18 + 14 * k, words, "mid bold" if k == 0 else "mid"))
    end = bottom + 30 + 14 * lines
    body.append(svg.text(_LEFT, end, "steps of the program, in their order \u2192", "small"))
    return svg.document(max(width, 560), end + 14, body)


def _name(step: Step) -> list[str]:
    """A step's name in lines that go under its column."""
    lines = textwrap.wrap(printable(step.what), _LETTERS)
    if len(lines) > 3:
        lines = [*lines[:2], svg.shorten(lines[2] + "...", _LETTERS)]
    return [*lines, "(in turn)"] if step.turn else lines


def _panel(steps: list[Step], region: str, top: float, width: float) -> list[str]:
    rows = [s for s in steps if s.region == region]
    total = rows[0].total
    most = max([total] + [_taken(s) + max(s.peak, s.need) for s in rows])
    scale = (_HEIGHT - 26) / most
    base = top + _HEIGHT
    right = width - _RIGHT
    body = [svg.text(14, top - 4, _NAMES[region], "bold")]
    for tick in _ticks(most):
        y = base - tick * scale
        body += [
            svg.line((_LEFT - 6, y, right, y), "#ddd"),
            svg.text(_LEFT - 10, y + 4, kib(tick), "small end"),
        ]
    level = _taken(rows[0])
    for i, step in enumerate(steps):
        x = _LEFT + i * (_COLUMN + _GAP)
        if step.region == region:
            body += _column(step, x, base, scale)
            level = _taken(step) + (step.need if step.fits else 0)
        elif level:
            body.append(svg.box((x, base - level * scale, _COLUMN, level * scale), _TAKEN, "#999"))
    limit = base - total * scale
    body.append(svg.line((_LEFT - 6, limit, right, limit), "#000", "7,4"))
    body.append(svg.text(right + 4, limit - 3, "limit", "small bold"))
    body.append(svg.text(right + 4, limit + 11, kib(total), "small"))
    body.append(svg.line((_LEFT - 6, base, right, base), "#000"))
    return body


def _taken(step: Step) -> int:
    return max(0, step.total - step.free)


def _ticks(most: int) -> list[int]:
    """Three to six round numbers from 0 to the most."""
    unit = 16 << 10
    while most // unit > 5:
        unit *= 2
    return list(range(0, most + 1, unit))


def _column(step: Step, x: float, base: float, scale: float) -> list[str]:
    taken = _taken(step)
    peak = max(step.peak, step.need)
    total = step.total
    title = (
        f"{step.what}: {kib(step.need)} stay, {kib(step.peak)} while it runs, "
        f"{kib(step.free)} free"
    )

    def part(start: int, end: int, fill: str, stroke: str = "#333") -> str:
        return svg.box(
            (x, base - end * scale, _COLUMN, (end - start) * scale), fill, stroke, title
        )

    body = [part(0, taken, _TAKEN, "#999")] if taken else []
    room = total if not step.fits else max(total, taken + peak)
    if peak > step.need:
        body.append(part(min(taken + step.need, room), min(taken + peak, room), _PASSING))
    if step.need:
        body.append(part(taken, min(taken + step.need, room), _STAYS))
    middle = x + _COLUMN / 2
    if step.need * scale > 18:
        y = base - (taken + min(step.need, max(0, room - taken)) / 2) * scale + 4
        body.append(svg.text(middle, y, kib(step.need), "mid on"))
    elif step.need:
        body.append(
            svg.text(middle, base - (taken + peak) * scale - 4, kib(step.need), "mid small")
        )
    if not step.fits:
        short = step.peak - step.free
        body.append(
            svg.box(
                (x, base - (total + short) * scale, _COLUMN, short * scale),
                svg.hatch("cross"),
                "#d00000",
                title,
            )
        )
        y = base - (total + short) * scale - 4
        body.append(svg.text(middle, y, f"{kib(short)} missing", "mid bad"))
    return body
