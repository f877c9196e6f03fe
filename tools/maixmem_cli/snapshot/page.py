# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A snapshot as one HTML page without anything from elsewhere."""

from __future__ import annotations

from html import escape

from maixmem_cli.profiler import maps
from maixmem_cli.snapshot import picture, text
from maixmem_cli.snapshot.view import View
from maixmem_cli.text.output import printable

_STYLE = (
    "body{font:15px/1.5 sans-serif;color:#111;max-width:1000px;margin:2em auto;padding:0 1em}"
    "pre{font-size:13px;overflow-x:auto}svg{max-width:100%;height:auto}"
    "div{overflow-x:auto;margin:1em 0}summary{cursor:pointer}"
)


def page(view: View) -> str:
    """The numbers, the treemaps, the map, the tables. The names of a part come under the mouse."""
    system = view.taken.system
    pool = view.taken.areas[0].pool
    body = [
        "<h1>Who holds the GC heap</h1>",
        _lines(text.heap(view)),
        f"<div>{picture.by_owner(view)}</div>",
        _lines(text.by_owner(view)),
        _lines(text.named(view)),
        f"<div>{picture.by_type(view)}</div>",
        _lines(text.by_type(view)),
        f"<div>{picture.by_address(view)}</div>",
    ]
    if system:
        body += [f"<div>{maps.svg(system, pool)}</div>", _lines(maps.text(system, pool))]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width"><title>maixmem heap</title>'
        f"<style>{_STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _lines(lines: list[str]) -> str:
    shown = "\n".join(map(printable, lines))
    return f"<pre>{escape(shown)}</pre>"
