# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The memory of a project over time as a picture: a column for each step, one row of columns for each heap."""

from __future__ import annotations

from xml.sax.saxutils import escape

from maixmem import kib

from maixmem_cli.fit import Fit, Step

_COLUMN, _GAP, _LEFT, _HEIGHT, _TOP = 92, 14, 90, 200, 46
_ROW = _HEIGHT + 110
_STYLE = (
    "text{font:12px sans-serif;fill:#222}.small{font-size:10px;fill:#555}.title{font-weight:bold}"
    ".taken{fill:#c9d1d9}.need{fill:#2f7ed8}.peak{fill:#9cc3ef}.short{fill:#d9534f}.limit{stroke:#222;stroke-width:1.5}"
)
_NAMES = {"heap": "system heap", "gc": "GC heap"}


def draw(fit: Fit) -> str:
    """The SVG document."""
    regions = [r for r in ("heap", "gc") if any(s.region == r for s in fit.steps)]
    most = max(sum(s.region == r for s in fit.steps) for r in regions)
    width = _LEFT + most * (_COLUMN + _GAP) + 20
    height = _TOP + len(regions) * _ROW
    title = f"{fit.project.firmware}, GC heap {kib(fit.project.gc_heap)}: {'fits' if fit.fits else 'does NOT fit'}"
    body = [f'<text class="title" x="12" y="24">{escape(title)}</text>']
    for i, region in enumerate(regions):
        body += _region(region, [s for s in fit.steps if s.region == region], _TOP + i * _ROW)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f"<style>{_STYLE}</style><rect width='100%' height='100%' fill='white'/>{''.join(body)}</svg>\n"
    )


def _region(region: str, steps: list[Step], top: int) -> list[str]:
    total = steps[0].total
    scale = _HEIGHT / max([total] + [s.total - s.free + s.peak for s in steps])
    base = top + 20 + _HEIGHT
    limit = base - total * scale
    right = _LEFT + len(steps) * (_COLUMN + _GAP)
    out = [
        f'<text x="12" y="{top + 10}">{_NAMES[region]}</text>',
        f'<text class="small" x="12" y="{limit + 4:.0f}">{kib(total)}</text>',
    ]
    for i, step in enumerate(steps):
        out += _column(step, _LEFT + i * (_COLUMN + _GAP), base, scale)
    out.append(
        f'<line class="limit" x1="{_LEFT - 6}" x2="{right}" y1="{limit:.1f}" y2="{limit:.1f}"/>'
    )
    return out


def _column(step: Step, x: int, base: float, scale: float) -> list[str]:
    taken = step.total - step.free
    parts = (
        ("taken", 0, taken),
        ("peak" if step.fits else "short", taken, step.peak),
        ("need" if step.fits else "short", taken, step.need),
    )
    out = []
    for kind, start, size in parts:
        y = base - (start + size) * scale
        out.append(
            f'<rect class="{kind}" x="{x}" y="{y:.1f}" width="{_COLUMN}" height="{max(0, size * scale):.1f}"/>'
        )
    note = "in turn" if step.turn else "stays"
    lines = (
        step.what[:16],
        f"{kib(step.need)} {note}",
        f"{kib(step.peak)} to make" if step.peak > step.need else "",
    )
    for i, text in enumerate(lines):
        style = "" if i == 0 else ' class="small"'
        out.append(f'<text{style} x="{x}" y="{base + 16 + 14 * i:.0f}">{escape(text)}</text>')
    return out
