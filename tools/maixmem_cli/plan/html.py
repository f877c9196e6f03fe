# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One page about a project: the answer, the steps as a table, and the pictures of memory and
flash."""

from __future__ import annotations

from xml.sax.saxutils import escape

from maixmem_report import kib

from maixmem_cli.answer import as_html
from maixmem_cli.answer.answer import Answer
from maixmem_cli.flash import svg_map
from maixmem_cli.plan import svg_time
from maixmem_cli.plan.fit import Fit, flash_of
from maixmem_cli.text.numbers import hexa
from maixmem_cli.text.output import printable

_STYLE = (
    "body{font:15px/1.5 sans-serif;color:#111;max-width:1100px;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em "
    ".8em;border-bottom:1px solid #ddd;text-align:left}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}tr.bad "
    "td{color:#b00000;font-weight:bold}"
    ".bad{color:#b00000}.picture{overflow-x:auto;margin:1em 0}h1{margin-bottom:0}"
)
_REGIONS = {"heap": "system heap", "gc": "GC heap"}


def page(answer: Fit, made: Answer | None) -> str:
    """The HTML document, with the answer where it does not fit; nothing in it is loaded from
    elsewhere."""
    build = answer.project.firmware
    tight = ", but it is tight" if answer.tight else ""
    head = f"It fits{tight}" if answer.fits else "It does not fit"
    body = [
        f"<h1{'' if answer.fits else ' class=bad'}>{head}</h1>",
        _p(f"Firmware {build.name} ({build.source}), GC heap {kib(answer.project.gc_heap)}."),
        *_verdicts(answer),
        *([as_html.fragment(made)] if made else ()),
        "<h2>Memory, step by step</h2>",
        _steps(answer),
        f'<div class="picture">{svg_time.draw(answer)}</div>',
        "<h2>Flash</h2>",
        _flash(answer),
        f'<div class="picture">{svg_map.draw(flash_of(answer.project))}</div>',
        _p("Written by maixmem fit. Sizes: 1 KiB is 1,024 bytes, 1 MiB is 1,024 KiB."),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>maixmem fit: '
        f"{head}</title><style>{_STYLE}</style></head><body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _p(words: str, kind: str = "") -> str:
    start = f'<p class="{kind}">' if kind else "<p>"
    return f"{start}{escape(printable(words))}</p>"


def _verdicts(answer: Fit) -> list[str]:
    found = [
        f"{s.what}: {kib(s.peak - s.free)} of {_REGIONS[s.region]} missing."
        for s in answer.steps
        if not s.fits
    ]
    found += [f"Cannot run: {text}." for text in answer.refused]
    found += [f"Flash: {text}." for text in answer.flash]
    found += [f"Picture: {text}." for text in answer.pictures]
    return [_p(text, "bad") for text in found]


def _table(heads: list[str], rows: list[tuple[str, list[str]]], numbers: int) -> str:
    """A table whose last columns hold numbers; a row is (its class, its cells)."""
    first = len(heads) - numbers

    def cells(tag: str, values: list[str]) -> str:
        return "".join(
            f"<{tag}{' class=n' if i >= first else ''}>{escape(printable(value))}</{tag}>"
            for i, value in enumerate(values)
        )

    body = "".join(f'<tr class="{kind}">{cells("td", values)}</tr>' for kind, values in rows)
    return f"<table><tr>{cells('th', heads)}</tr>{body}</table>"


def _steps(answer: Fit) -> str:
    rows = []
    for s in answer.steps:
        name = s.what + (" (in turn)" if s.turn else "")
        sizes = [kib(n) for n in (s.need, s.peak, s.free)]
        rows.append(("" if s.fits else "bad", [name, _REGIONS[s.region], *sizes]))
    return _table(["step", "heap", "stays", "while it runs", "free before"], rows, 3)


def _flash(answer: Fit) -> str:
    rows = [
        ("", [r.name, r.source, hexa(r.start), hexa(r.end), kib(r.end - r.start)])
        for r in sorted(flash_of(answer.project).regions, key=lambda r: (r.start, r.end))
    ]
    return _table(["what", "known from", "start", "end", "size"], rows, 3)
