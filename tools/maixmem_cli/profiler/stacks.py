# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The full call chains of a profile: who called the line that holds the bytes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler.compare import HEAPS
from maixmem_cli.profiler.profile import Profile

MOMENTS = {"at_peak": "at the peak", "at_end": "at the end", "in_all": "in all"}
Chain = tuple[Place, ...]  #: the outermost line first


@dataclass(frozen=True)
class Stack:
    """Bytes of one heap by one chain of calls."""

    heap: str
    chain: Chain
    at_peak: int
    at_end: int
    in_all: int


def stacks(profile: Profile) -> list[Stack]:
    """Every chain of calls that took bytes, those with most first. Their sums are those of the
    lines."""
    out = []
    for heap, account in (("gc", profile.books.gc), ("heap", profile.books.heap)):
        found: list[Counter[Chain]] = []
        for amounts in (account.peak.held, account.held, account.in_all):
            by_chain: Counter[Chain] = Counter()
            for site, nbytes in amounts.items():
                by_chain[profile.chain(site)] += nbytes
            found.append(by_chain)
        peak, end, in_all = found
        chains = [c for c in peak.keys() | end.keys() | in_all.keys()]
        out += [Stack(heap, c, peak[c], end[c], in_all[c]) for c in chains]
    return sorted((s for s in out if max(s.at_peak, s.at_end, s.in_all)), key=_order)


def leaking(profile: Profile, heap: str) -> list[tuple[Chain, int]]:
    """The chains of what leaks of a heap, with what they had at the last look."""
    places = {g.place for g in profile.leaks if g.heap == heap}
    out: Counter[Chain] = Counter()
    for look in profile.books.looks[-1:]:
        for (site, nbytes), n in (look.gc if heap == "gc" else look.heap).items():
            if profile.place(site) in places:
                out[profile.chain(site)] += nbytes * n
    return out.most_common()


def _order(s: Stack) -> tuple[Any, ...]:
    return -max(s.at_peak, s.at_end), -s.in_all, s.heap, [str(p) for p in s.chain]


def as_json(profile: Profile) -> list[dict[str, Any]]:
    """Plain data; the outermost line first."""
    return [
        {
            "heap": s.heap,
            "stack": [{"file": p.file, "function": p.function, "line": p.line} for p in s.chain],
            **{moment: getattr(s, moment) for moment in MOMENTS},
        }
        for s in stacks(profile)
    ]


def speedscope(profile: Profile) -> dict[str, Any]:
    """As the viewer speedscope reads it (its schema: "sampled", weights in bytes): each heap at
    its peak, at the end, and all that was ever taken."""
    number: dict[Place, int] = {}
    shown = []
    found = stacks(profile)
    for heap, name in HEAPS.items():
        for moment, words in MOMENTS.items():
            these = [s for s in found if s.heap == heap and getattr(s, moment)]
            weights = [getattr(s, moment) for s in these]
            samples = [[number.setdefault(p, len(number)) for p in s.chain] for s in these]
            shown.append(
                {
                    "type": "sampled",
                    "name": f"{name} {words}",
                    "unit": "bytes",
                    "startValue": 0,
                    "endValue": sum(weights),
                    "samples": samples,
                    "weights": weights,
                }
            )
    frames = [{"name": f"{p.function}:{p.line}", "file": p.file, "line": p.line} for p in number]
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": profile.session.script.name,
        "exporter": "maixmem",
        "activeProfileIndex": 0,
        "shared": {"frames": frames},
        "profiles": shown,
    }
