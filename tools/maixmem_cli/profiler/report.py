# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A profile as text for a terminal."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import Any, Callable

from maixmem_report import kib

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.emulator.session import HANGING
from maixmem_cli.profiler import live
from maixmem_cli.profiler.leaks import BOUNDED, CACHE, FIRMWARE, ONCE, RECURSION, Bound, Growth
from maixmem_cli.profiler.profile import EARLIER, STACK, UNKNOWN, Profile

_LINES, _KEPT_LINES, _KEEPERS = 12, 5, 3
HEAPS = {"gc": "GC heap", "heap": "system heap"}


def where(place: Place) -> str:
    """file:line, with the function when it has a name."""
    if not place.file:
        return f"({place.function})"
    function = "" if place.function.startswith("<") else f" {place.function}()"
    return f"{place.file}:{place.line or '?'}{function}"


def cells(n: Any) -> list[str]:
    return [HEAPS[n.heap], kib(n.at_peak), kib(n.at_end), kib(n.in_all), str(n.count)]


def heap_lines(profile: Profile) -> list[str]:
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
            f"{HEAPS[name]}: peak {kib(account.peak.used)} of {kib(total)} {what}; "
            f"{kib(account.used)} held at the end"
        )
    return out


def in_use(profile: Profile) -> list[str]:
    """What of the GC heap was in use at once."""
    live = profile.live_peak
    if live is None:
        return []
    stale = profile.left_over
    more = (
        f"; {kib(stale)} more is garbage that a word in memory seems to point to" if stale else ""
    )
    return [f"GC heap: {kib(live)} in use at once, garbage not counted{more}"]


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
    """Leaks, when they end the program, and caches that are full."""
    return [*warnings(profile), *caches(profile)]


def warnings(profile: Profile) -> list[str]:
    """Leaks, when they end the program, and what cannot be judged."""
    out = [growth(profile, g) for g in profile.leaks]
    return [*out, *end(profile), *too_few(profile)]


def caches(profile: Profile) -> list[str]:
    """What filled up, or is to."""
    return [growth(profile, g) for g in profile.growths if not g.leaks]


def growth(profile: Profile, g: Growth) -> str:
    """One of them: how much, and where."""
    line, heap, each = line_of(profile, g.place), HEAPS[g.heap], f"{g.each_time} bytes"
    if g.kind == CACHE:
        return f"fills up and stays, {kib(g.nbytes)} of the {heap}: {line}"
    if g.kind == ONCE:
        had = f"{each} a round in a loop that has ended, no more in the loop after it"
        return f"allocated once, {kib(g.nbytes)} of the {heap}, {had}: {line}"
    if g.kind == BOUNDED and g.bound:
        return f"grows {each} of the {heap} a round, {_bound(g.bound)}: {line}"
    if g.kind == FIRMWARE:
        too = f" and {g.gc_too // g.times} of the GC heap" if g.gc_too else ""
        never = f"{g.times} times; no script gets them back"
        return f"the firmware loses {each} of the {heap}{too} each time, {never}: {line}"
    if g.kind == RECURSION:
        return f"leaks {each} of the {heap} with each call in itself, {g.rounds} deep: {line}"
    when = f"a round, {g.rounds} rounds"
    if g.verdict.now_and_then:
        when = f"each time, about every {g.verdict.every:.0f} rounds"
    keeper = kept_by(profile, g.place) if g.heap == "gc" else ""
    return f"leaks {each} of the {heap} {when}: {line}" + (f"; kept by {keeper}" if keeper else "")


def _bound(bound: Bound) -> str:
    until = f"until {bound.unit} {bound.until}, and not beyond"
    if bound.ran:
        return f"{until} (it was run on to {bound.unit} {bound.shown})"
    enough = f"{bound.shown} {bound.unit}s are enough"
    return f"{until}: seen on the stand-in, not reached here ({enough})"


def line_of(profile: Profile, place: Place) -> str:
    """A place and the text of its line."""
    return f"{where(place)}  {profile.text(place)}".rstrip()


def end(profile: Profile) -> list[str]:
    """When all leaks together end the program."""
    found = profile.end
    if not found:
        return []
    what = "calls in one another" if found.recursion else "rounds"
    least, most = found.left, found.most
    if found.sure:
        about = "" if found.ran else "about "
        text = f"{about}{least} {what} more, {least + found.rounds} in all"
    elif most is None:
        text = f"at least {least} {what} more, {least + found.rounds} in all"
    else:
        both = f"{least} to {most} {what} more"
        text = f"{both}, {least + found.rounds} to {most + found.rounds} in all"
    if found.heap == STACK:
        return [f"the stack is full in {text}"]
    ran = "; it was run on to there" if found.ran else ""
    return [f"all leaks together fill the {HEAPS[found.heap]} in {text}{ran}"]


def too_few(profile: Profile) -> list[str]:
    """What cannot be judged yet."""
    found = profile.judged
    few = f"{found.rounds}; {found.enough} are enough"
    what = " the other lines" if profile.leaks else ""
    return [f"too few rounds to judge{what} ({few})"] if found.too_few else []


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
    rows = [(cells(n), f"{where(n.place)}  {n.text}".rstrip()) for n in profile.lines()[:_LINES]]
    out = [*heap_lines(profile), *in_use(profile), *fragments(profile), ""]
    widths = [max(len(r[0][i]) for r in [(head, ""), *rows]) for i in range(len(head))]
    for row, line in [(head, "line"), *rows]:
        out.append(
            "  ".join(
                [
                    row[0].ljust(widths[0]),
                    *(c.rjust(w) for c, w in zip(row[1:], widths[1:])),
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
