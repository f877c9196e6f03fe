# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A profile as pictures, and as one HTML page without anything from elsewhere."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import Callable

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.emulator.session import HANGING
from maixmem_cli.profiler import draw, history, report, stacks
from maixmem_cli.profiler.leaks import Growth
from maixmem_cli.profiler.profile import EARLIER, UNKNOWN, Profile
from maixmem_cli.profiler.report import kept_by, where

_ROWS = 36  # of the table of lines
_TICKS, _STEPS = 10, (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 1 << 40)
_SCRIPTS = [Path(__file__).with_name(name) for name in ("timeline.js", "search.js")]
_LEAKS = ("leaks", "what leaks")
_THIN = 0.3  # of the GC heap: less is shown without its garbage too
_WARNINGS = 3  # leaks that a plot has in words
_WAIT = 3  # times the middle step between two samples: longer ones are shortened
_STYLE = """body{font-family:sans-serif;max-width:1000px;margin:2em auto;color:#222}
table{border-collapse:collapse}
td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}
svg{max-width:100%;height:auto}div{overflow-x:auto}.narrow{height:0;overflow:hidden}
#search{font-size:1em;padding:3px 6px;width:16em;max-width:90%}
.off{opacity:.12}tr.off{display:none}
.leak{color:#d00000;font-weight:bold}summary{cursor:pointer;margin:.6em 0}
.answer{background:#f4f4f4;padding:.2em 1em}.answer .step{font-size:1.15em}
@media(max-width:600px){body{margin:.6em;font-size:14px}h1{font-size:1.3em}ul{padding-left:1.2em}
.wide{height:0;overflow:hidden}.narrow{height:auto}div:not(.narrow)>svg{max-width:none}
.lines :is(td,th):nth-child(n+4):nth-child(-n+5){display:none}}
@media print{body{max-width:none}details>*{display:block}}
.lines :is(td,th):not(:last-child){white-space:nowrap}
td.l,th.l{text-align:left}pre{margin:0;font-size:13px}h2{margin-top:1.6em}"""


def _colours(profile: Profile) -> dict[Place, str]:
    """A colour for each of the lines that hold most, in one order for all pictures; leaks have the
    warning's."""
    most: Counter[Place] = Counter()
    for n in profile.lines():
        most[n.place] = max(most[n.place], n.live, n.at_end)
    leaking = {g.place for g in profile.leaks}
    ranked = [p for p, _ in most.most_common() if p not in (EARLIER, UNKNOWN, *leaking)]
    out = dict(zip(ranked, draw.COLOURS))
    out[EARLIER] = draw.EARLIER
    return {**out, **dict.fromkeys((g.place for g in profile.leaks), draw.LEAK)}


def _legend(colours: dict[Place, str], used: set[Place]) -> list[tuple[str, str]]:
    shown = [(c, where(p)) for p, c in colours.items() if p in used]
    return [*shown, (draw.OTHER, "other lines and the firmware")]


def _compressed(times: list[int]) -> Callable[[int], int]:
    """Time in which nothing is taken or given is shortened: from a time to the place of it."""
    gaps = [b - a for a, b in zip(times, times[1:])]
    most = _WAIT * (sorted(gaps)[len(gaps) // 2] if gaps else 1) + 1
    places = [0, *accumulate(min(g, most) for g in gaps)]

    def place(time: int) -> int:
        i = max(0, bisect_right(times, time) - 1)
        return places[i] + min(time - times[i], most)

    return place


def _places(profile: Profile) -> Callable[[int], float]:
    """From a time to its place on the timeline, 0 to 1."""
    times = [s.time for s in profile.books.samples]
    place = _compressed(times)
    first, last = place(times[0]), place(times[-1])
    return lambda time: min(1.0, max(0.0, (place(time) - first) / ((last - first) or 1)))


def _plots(profile: Profile, found: list[history.Point]) -> list[draw.Plot]:
    """Both heaps, their layers from below: what existed before, all else, the lines that hold
    most, leaks; on top of what is in use the garbage."""
    colours = _colours(profile)
    leaking = [p for p, c in colours.items() if c == draw.LEAK]
    order = [EARLIER, *(p for p in colours if p not in (EARLIER, *leaking)), *reversed(leaking)]
    named = {p: report.line_of(profile, p) for p in order}
    named.update((p, f"leak: {named[p]}") for p in leaking)
    out = []
    for key, total in (("gc", profile.gc_total), ("heap", profile.heap_total)):
        held = [getattr(point, key) for point in found]
        layers = [draw.Layer(colours[p], named[p], [h[p] for h in held]) for p in order]
        rest = [sum(h.values()) - sum(h[p] for p in order) for h in held]
        layers.insert(1, draw.Layer(draw.OTHER, "other lines and the firmware", rest))
        if key == "gc" and profile.fullest:
            garbage = [point.garbage for point in found]
            layers.append(
                draw.Layer(draw.GARBAGE, "garbage, until it is collected", garbage, False)
            )
        warnings = [_warning(profile, g) for g in profile.leaks if g.heap == key]
        name, shown = report.HEAPS[key], [n for n in layers if any(n.values)] or layers[:1]
        out.append(draw.Plot(name, total, shown, warnings[:_WARNINGS]))
        in_use = [n for n in shown if n.live]
        if in_use != shown and max(out[-1].live) < _THIN * total:
            alone = f"{name} without garbage"
            out.append(draw.Plot(alone, total, in_use, warnings[:_WARNINGS]))
    return out


def _warning(profile: Profile, g: Growth) -> str:
    a = "each time" if g.times or g.verdict.now_and_then else "a round"
    return f"LEAK {g.each_time} bytes {a}: {report.line_of(profile, g.place)}"


def _ticks(profile: Profile, place: Callable[[int], float]) -> list[tuple[float, str]]:
    """The axis in frames; without frames in instructions."""
    books = profile.books
    frames = [t for t, n, _ in books.marks if profile.mark(n) == "snapshot"]
    if len(frames) > 1:
        step = next(s for s in _STEPS if len(frames) <= s * _TICKS)
        return [
            (place(t), f"frame {i}" if i == 1 else str(i))
            for i, t in enumerate(frames, 1)
            if i == 1 or not i % step
        ]
    out: list[tuple[float, str]] = []
    for s in books.samples:
        if not out or place(s.time) - out[-1][0] >= 1 / _TICKS:
            out.append((place(s.time), f"{(s.time - books.first_time) / 1e6:.1f} M"))
    return out


def _moments(profile: Profile) -> draw.Moments:
    books, place = profile.books, _places(profile)
    marks = [
        (place(time), profile.mark(n), f"{profile.mark(n)}: {where(profile.place(site))}")
        for time, n, site in books.marks
    ]
    peaks = ((0, books.gc.peak), (-1, books.heap.peak))  # the first plot and the last
    flags = [
        (place(p.time), i, f"peak: {where(profile.place(p.site))}") for i, p in peaks if p.time
    ]
    if profile.outcome.kind in HANGING:
        at = next((line for line in profile.ending if line.startswith("at ")), "")
        flags.append((place(books.last_time), 0, f"the board hangs {at}"))
    return draw.Moments(marks, flags, _ticks(profile, place))


def timeline(profile: Profile, width: int = draw.WIDTH) -> str:
    """Both heaps over time, as SVG."""
    place, found = _places(profile), history.points(profile)
    length = f"{profile.instructions / 1e6:.1f} million instructions"
    at = [place(point.time) for point in found]
    words = f"{length}, waiting shortened"
    return draw.timeline(at, _plots(profile, found), _moments(profile), words, width)


def _hover(profile: Profile) -> str:
    """What timeline.js shows of the moment under the pointer, as JSON."""
    books, place, found = profile.books, _places(profile), history.points(profile)
    frames = [t for t, n, _ in books.marks if profile.mark(n) == "snapshot"]
    told = {
        "at": [round(place(point.time), 5) for point in found],
        "words": [
            f"{(point.time - books.first_time) / 1e6:.1f} million instructions"
            + (f", frame {n}" if (n := bisect_right(frames, point.time)) else "")
            for point in found
        ],
        "plots": [
            {
                "name": p.name,
                "most": p.used,
                "lines": [{"name": n.name, "values": n.values} for n in p.layers],
            }
            for p in _plots(profile, found)
        ],
    }
    return json.dumps(told).replace("<", "\\u003c")


def _flames(profile: Profile) -> str:
    """Both heaps by chains of calls: what leaks, at the peak, at the end, in all."""
    found, out = stacks.stacks(profile), []
    for moment, words in (_LEAKS, *stacks.MOMENTS.items()):
        pictures = []
        for heap, name in report.HEAPS.items():
            if moment == _LEAKS[0]:
                chains = stacks.leaking(profile, heap)
            else:
                chains = [(s.chain, getattr(s, moment)) for s in found if s.heap == heap]
            known = {p: report.line_of(profile, p) for c, _ in chains for p in c}
            kept = [(c, n) for c, n in chains if n and c[0] is not EARLIER]
            if kept or moment != _LEAKS[0]:
                pictures.append(draw.flame(kept, known, f"{name} {words}, by who called"))
        shown = " open" if moment == ("at_peak", _LEAKS[0])[bool(profile.leaks)] else ""
        if pictures:
            inside = f"<div>{''.join(pictures)}</div>"
            out.append(f"<details{shown}><summary>{words}</summary>{inside}</details>")
    return "\n".join(out)


def heap_map(profile: Profile) -> str:
    """The system heap at its peak, owners by colour, as SVG."""
    books, colours, used = profile.books, _colours(profile), set()
    pieces = []
    for address, (size, site, _) in sorted(books.peak_chunks.items()):
        place = profile.place(site)
        used.add(place)
        title = f"{where(place)}: {size} bytes at {address:#x}"
        pieces.append(
            draw.Piece(address - 16 - books.base, size, colours.get(place, draw.OTHER), title)
        )
    names = [*_legend(colours, used), (draw.HOLE, "white: free")]
    return draw.heap_map(pieces, profile.heap_total, names, "System heap at its peak, by address")


def gc_map(profile: Profile) -> str:
    """The GC heap at the end, owners by colour, as SVG."""
    colours, used = _colours(profile), set()
    owners = []
    for site in profile.books.blocks:
        if site is None:
            owners.append((draw.HOLE, ""))
            continue
        place = profile.place(site)
        used.add(place)
        owners.append((colours.get(place, draw.OTHER), where(place)))
    return draw.gc_map(owners, _legend(colours, used), "GC heap at the end, after gc.collect()")


def _source(profile: Profile) -> str:
    """The script with bytes by line."""
    held: dict[int, list[int]] = {}
    for n in profile.lines():
        if n.place.file == profile.session.script.name:
            cell = held.setdefault(n.place.line, [0, 0])
            cell[n.heap == "heap"] += max(n.at_peak, n.at_end)
    out = [
        (
            "<table><tr><th>GC heap</th><th>system heap</th><th></th><th class=l>bytes at "
            "the peak, by line</th></tr>"
        )
    ]
    for i, line in enumerate(profile.source(profile.session.script.name), 1):
        gc, heap = held.get(i, (0, 0))
        out.append(
            f"<tr><td>{gc or ''}</td><td>{heap or ''}</td><td>{i}</td><td "
            f"class=l><pre>{escape(line)}</pre></td></tr>"
        )
    return "\n".join([*out, "</table>"])


def _table(profile: Profile) -> str:
    out = [
        (
            "<table><tr><th class=l>heap</th><th>at peak</th><th>at end</th><th>in "
            "all</th><th>times</th><th class=l>line</th></tr>"
        )
    ]
    for n in profile.lines()[:_ROWS]:
        cells = report.cells(n)
        numbers = "".join(f"<td>{c}</td>" for c in cells[1:])
        line = f"{escape(where(n.place))} <code>{escape(n.text)}</code>"
        by = kept_by(profile, n.place) if n.heap == "gc" and n.place != EARLIER else ""
        line += f"<br><small>kept by {escape(by)}</small>" if by else ""
        out.append(f"<tr><td class=l>{cells[0]}</td>{numbers}<td class=l>{line}</td></tr>")
    return "\n".join([*out, "</table>"])


def html(profile: Profile, answer: str = "") -> str:
    """The whole report; `answer`: what to do, as HTML."""
    name = escape(f"{profile.session.script.name} on {profile.session.firmware.name}")
    told = [
        *report.heap_lines(profile),
        *report.in_use(profile),
        *report.fragments(profile),
        *profile.damage,
        report.books_line(profile),
        *profile.ending,
    ]
    told += [f"not found in this firmware: {m}" for m in profile.missing]
    told += report.caches(profile)
    listed = "".join(f"<li>{escape(line)}</li>\n" for line in told)
    grown = "".join(f"<p class=leak>{escape(line)}</p>\n" for line in report.warnings(profile))
    return f"""<!doctype html><meta charset="utf-8"><meta name="viewport"
content="width=device-width"><title>{name}</title><style>{_STYLE}</style>
<h1>Where the memory of {name} went</h1>
{answer}
{grown}<h2>Both heaps over time</h2>
<div class="wide timeline">{timeline(profile)}</div>
<div class="narrow timeline">{timeline(profile, draw.NARROW)}</div>
<p id=moment>Point at a moment to see who has what; turn the wheel or pinch to zoom, drag to move,
double-click for all of it. Time is instructions: KPU, flash and DMA take none.</p>
<p><input id=search type=search placeholder="search a line, a function" aria-label=search></p>
<ul>{listed}</ul>
<h2>Lines</h2>
<div class=lines>{_table(profile)}</div>
<h2>Calls</h2><p>As wide as its bytes, the caller above; what was there before is left out.</p>
{_flames(profile)}
<h2>System heap</h2>
<div>{heap_map(profile)}</div>
<h2>GC heap</h2>
<div>{gc_map(profile)}</div>
<h2>Source</h2>
<div>{_source(profile)}</div>
<script>const told = {_hover(profile)};
{"".join(s.read_text(encoding="utf-8") for s in _SCRIPTS)}</script>
"""
