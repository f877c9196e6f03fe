# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A profile as text for a terminal and as one HTML page without anything from elsewhere."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from html import escape
from itertools import accumulate
from typing import Any, Callable

from maixmem_report import kib

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.emulator.session import HANGS, STUCK
from maixmem_cli.profiler import draw, flame, live, stacks
from maixmem_cli.profiler.profile import EARLIER, UNKNOWN, Profile

_LINES, _KEPT_LINES, _KEEPERS = 12, 5, 3
_WAIT = 3  # times the middle step between two samples: longer ones are shortened
_HEAPS = {"gc": "GC heap", "heap": "system heap"}
_STYLE = """body{font-family:sans-serif;max-width:1000px;margin:2em auto;color:#222}
table{border-collapse:collapse}
td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}
svg{max-width:100%;height:auto}div{overflow-x:auto}summary{cursor:pointer;margin:.6em 0}
@media(max-width:600px){body{margin:.6em;font-size:14px}h1{font-size:1.3em}ul{padding-left:1.2em}
svg{max-width:none}.lines :is(td,th):nth-child(n+4):nth-child(-n+5){display:none}}
@media print{body{max-width:none}details>*{display:block}}
td.l,th.l{text-align:left}pre{margin:0;font-size:13px}h2{margin-top:1.6em}"""


def where(place: Place) -> str:
    """file:line, with the function when it is not the module itself."""
    if not place.file:
        return f"({place.function})"
    function = "" if place.function == "<module>" else f" {place.function}()"
    return f"{place.file}:{place.line or '?'}{function}"


def _cells(n: Any) -> list[str]:
    return [_HEAPS[n.heap], kib(n.at_peak), kib(n.at_end), kib(n.in_all), str(n.count)]


def _heap_lines(profile: Profile) -> list[str]:
    books = profile.books
    out = []
    for name, account, total in (
        ("gc", books.gc, profile.gc_total),
        ("heap", books.heap, profile.heap_total),
    ):
        at = profile.place(account.peak.site)
        time = (account.peak.time - books.first_time) / 1e6
        what = (
            f"at {where(at)}, {time:.1f} million instructions in"
            if account.peak.time
            else "before the script"
        )
        out.append(
            f"{_HEAPS[name]}: peak {kib(account.peak.used)} of {kib(total)} {what}; "
            f"{kib(account.used)} held at the end"
        )
    return out


def in_use(profile: Profile) -> list[str]:
    """What of the GC heap was in use at once, and the smallest one that would do."""
    live, found = profile.live_peak, profile.smallest
    if live is None:
        return []
    more = f"; {kib(profile.under_way)} more only C's stack keeps" if profile.under_way else ""
    out = [f"GC heap: {kib(live)} in use at once, garbage not counted{more}"]
    if found:
        scattered = f"{kib(found.pool - live)} more than was in use at once: fragmentation"
        own = f"{kib(found.heap - found.pool)} are its tables"
        call = f"utils.gc_heap_size({found.heap})"
        out.append(f"smallest GC heap with which it runs: {call}; {scattered}; {own}")
    return out


def fragments(profile: Profile) -> list[str]:
    """Largest free block and holes of the system heap: at the beginning, at their worst, at the
    end."""
    samples = profile.books.samples
    if not samples:
        return []
    worst = min(samples, key=lambda s: s.largest)
    scattered = max(samples, key=lambda s: s.holes)
    largest = [kib(n) for n in (samples[0].largest, worst.largest, samples[-1].largest)]
    text = "largest free block of the system heap: {} at first, {} at least, {} at the end".format(
        *largest
    )
    return [f"{text}; in holes: {kib(scattered.holes)} at most"]


def growths(profile: Profile) -> list[str]:
    """Leaks, and caches that are full."""
    out = []
    for g in profile.growths:
        line, heap = f"{where(g.place)}  {profile.text(g.place)}".rstrip(), _HEAPS[g.heap]
        if g.leaks:
            a, many = ("a round", "rounds") if g.by_loop else ("each time", "times")
            left = f"{g.rounds} {many}, {profile.rounds_left(g)} more until it is full"
            out.append(f"leaks {g.each} bytes of the {heap} {a}, {left}: {line}")
        else:
            out.append(f"fills up and stays, {kib(g.nbytes)} of the {heap}: {line}")
    return out


def _objects(k: live.Kept) -> str:
    return "1 object" if k.objects == 1 else f"{k.objects} objects"


def kept_by(profile: Profile, place: Place) -> str:
    """Who keeps what a line had in use of the GC heap when most was; "" when nothing."""
    found = profile.keepers(place)
    told = [f"{k.by} ({kib(k.nbytes)}, {_objects(k)})" for k in found[:_KEEPERS]]
    return "; ".join([*told, f"{len(found) - _KEEPERS} more"] if found[_KEEPERS:] else told)


def keepers(profile: Profile) -> list[str]:
    """For the lines that had most in use: who keeps it alive."""
    lines = [n for n in profile.lines() if n.heap == "gc" and n.place not in (EARLIER, UNKNOWN)]
    lines = sorted(lines, key=lambda n: -n.live)[:_KEPT_LINES]
    found = [(n.place, kept_by(profile, n.place)) for n in lines if n.live]
    return [f"kept alive: {where(p)} by {by}" for p, by in found if by]


def books_line(profile: Profile) -> str:
    """Whether the events and the heap at the end agree."""
    if profile.unexplained is None:
        return "the system heap at the end could not be compared with what was followed"
    if profile.unexplained:
        return (
            f"{profile.unexplained} bytes of the system heap are not explained by the calls "
            "that were followed"
        )
    return "every byte of the system heap at the end is explained by a call that was followed"


def text(profile: Profile) -> list[str]:
    """The table."""
    head = ["", "at peak", "at end", "in all", "times"]
    rows = [(_cells(n), f"{where(n.place)}  {n.text}".rstrip()) for n in profile.lines()[:_LINES]]
    out = [*_heap_lines(profile), *in_use(profile), *fragments(profile), ""]
    widths = [max(len(r[0][i]) for r in [(head, ""), *rows]) for i in range(len(head))]
    for cells, line in [(head, "line"), *rows]:
        out.append(
            "  ".join(
                [
                    cells[0].ljust(widths[0]),
                    *(c.rjust(w) for c, w in zip(cells[1:], widths[1:])),
                    line,
                ]
            )
        )
    out.append("")
    out += [*profile.damage, *growths(profile), *keepers(profile)]
    out.append("costs most: " + "; ".join(where(n.place) for n in profile.costly()))
    out.append(f"{books_line(profile)}; time is instructions: KPU, flash and DMA take none")
    out += [f"not found in this firmware: {name}" for name in profile.missing]
    return out


# --- pictures ---


def _colours(profile: Profile) -> dict[Place, str]:
    """A colour for each of the lines that hold most, in one order for all pictures."""
    most: Counter[Place] = Counter()
    for n in profile.lines():
        most[n.place] = max(most[n.place], n.at_peak, n.at_end)
    ranked = [p for p, _ in most.most_common() if p not in (EARLIER, UNKNOWN)]
    out = dict(zip(ranked, draw.COLOURS))
    out[EARLIER] = draw.EARLIER
    return out


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


def timeline(profile: Profile) -> str:
    """Both heaps over time, as SVG."""
    books = profile.books
    place = _compressed([s.time for s in books.samples])
    marks = [
        (place(time), profile.mark(n), f"{profile.mark(n)}: {where(profile.place(site))}")
        for time, n, site in books.marks
    ]
    peaks = enumerate((books.gc.peak, books.heap.peak))
    flags = [
        (place(p.time), i, f"peak: {where(profile.place(p.site))}") for i, p in peaks if p.time
    ]
    if profile.outcome.kind in (HANGS, STUCK):
        at = next((line for line in profile.ending if line.startswith("at ")), "")
        flags.append((place(books.last_time), 0, f"the board hangs {at}"))
    length = f"{(books.last_time - books.first_time) / 1e6:.1f} million instructions"
    return draw.timeline(
        [(place(s.time), s.gc) for s in books.samples],
        [(place(s.time), s.heap) for s in books.samples],
        (profile.gc_total, profile.heap_total),
        marks,
        flags,
        f"{length}, waiting shortened",
    )


def _flames(profile: Profile) -> str:
    """Both heaps by chains of calls: at the peak, at the end, in all."""
    found, out = stacks.stacks(profile), []
    for moment, words in stacks.MOMENTS.items():
        pictures = []
        for heap, name in _HEAPS.items():
            chains = [(s.chain, getattr(s, moment)) for s in found if s.heap == heap]
            known = {p: f"{where(p)}  {profile.text(p)}".rstrip() for c, _ in chains for p in c}
            kept = [(c, n) for c, n in chains if n and c[0] is not EARLIER]
            pictures.append(flame.picture(kept, known, f"{name} {words}, by who called"))
        shown = " open" if moment == "at_peak" else ""
        out.append(
            f"<details{shown}><summary>{words}</summary><div>{''.join(pictures)}</div></details>"
        )
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
    for n in profile.lines()[: 3 * _LINES]:
        cells = _cells(n)
        numbers = "".join(f"<td>{c}</td>" for c in cells[1:])
        line = f"{escape(where(n.place))} <code>{escape(n.text)}</code>"
        by = kept_by(profile, n.place) if n.heap == "gc" and n.place != EARLIER else ""
        line += f"<br><small>kept by {escape(by)}</small>" if by else ""
        out.append(f"<tr><td class=l>{cells[0]}</td>{numbers}<td class=l>{line}</td></tr>")
    return "\n".join([*out, "</table>"])


def html(profile: Profile) -> str:
    """The whole report."""
    name = escape(f"{profile.session.script.name} on {profile.session.firmware.name}")
    told = [
        *_heap_lines(profile),
        *in_use(profile),
        *fragments(profile),
        *profile.damage,
        *growths(profile),
        books_line(profile),
        *profile.ending,
    ]
    told += [f"not found in this firmware: {m}" for m in profile.missing]
    listed = "".join(f"<li>{escape(line)}</li>\n" for line in told)
    return f"""<!doctype html><meta charset="utf-8"><meta name="viewport"
content="width=device-width"><title>{name}</title><style>{_STYLE}</style>
<h1>Where the memory of {name} went</h1>
<ul>{listed}</ul>
<h2>Both heaps over time</h2><p>Time is instructions: KPU, flash and DMA take none.</p>
<div>{timeline(profile)}</div>
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
"""
