# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A profile as plain data: what `maixmem profile --json` prints and baselines keep."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.emulator.session import HANGING
from maixmem_cli.profiler.compare import VERSION
from maixmem_cli.profiler.leaks import Growth
from maixmem_cli.profiler.ledger import Account
from maixmem_cli.profiler.profile import Line, Profile


def data(profile: Profile) -> dict[str, Any]:
    """All of it; sizes in bytes, times in instructions since the script began."""
    books = profile.books
    began = books.first_time
    return {
        "version": VERSION,
        "firmware": profile.session.firmware.name,
        "script": profile.session.script.name,
        "ended": profile.outcome.kind,
        "error": profile.outcome.error,
        "hang": profile.ending if profile.outcome.kind in HANGING else [],
        "damage": profile.damage,
        "time_unit": "instructions; KPU, flash and DMA take none",
        "leaks_looked_for": profile.fullest is not None,
        "instructions": profile.instructions,
        "not_found": profile.missing,
        "unexplained": profile.unexplained,
        "gc": {
            **_heap(profile, books.gc, profile.gc_total),
            "live_peak": profile.live_peak,
            "left_over": profile.left_over,
        },
        "heap": _heap(profile, books.heap, profile.heap_total),
        "lines": [_line(profile, n) for n in profile.lines()],
        "grows": [_grown(profile, g) for g in profile.leaks],
        "ends": profile.end and asdict(profile.end),
        "too_few_rounds": profile.judged.rounds if profile.judged.too_few else None,
        "full": [_grown(profile, g) for g in profile.growths if not g.leaks],
        "samples": [{**asdict(s), "time": s.time - began} for s in books.samples],
        "live": [{"time": k.time - began, "gc": k.gc_used} for k in books.looks],
        "marks": [
            {"time": t - began, "kind": profile.mark(n), **_place(profile, profile.place(site))}
            for t, n, site in books.marks
        ],
    }


def _place(profile: Profile, place: Place) -> dict[str, Any]:
    return {**asdict(place), "text": profile.text(place)}


def _heap(profile: Profile, account: Account, total: int) -> dict[str, Any]:
    return {
        "total": total,
        "peak": account.peak.used,
        "peak_time": max(0, account.peak.time - profile.books.first_time),
        "peak_at": _place(profile, profile.place(account.peak.site)),
        "end": account.used,
    }


def _line(profile: Profile, line: Line) -> dict[str, Any]:
    numbers = asdict(line)
    told = {"heap": numbers.pop("heap"), **numbers.pop("place"), **numbers}
    kept = profile.keepers(line.place) if line.live and line.heap == "gc" else []
    by = [{"by": k.by, "bytes": k.nbytes, "objects": k.objects} for k in kept]
    return {**told, "kept_by": by} if by else told


def _grown(profile: Profile, g: Growth) -> dict[str, Any]:
    told = {
        "kind": g.kind,
        "rounds": g.rounds,
        "bytes": g.nbytes,
        "rate": round(g.verdict.rate, 1),
    }
    more = {"each": g.each_time, "every": round(g.verdict.every, 1), "times": g.times or None}
    bound = {"bound": asdict(g.bound)} if g.bound else {}
    return {"heap": g.heap, **_place(profile, g.place), **told, **more, **bound}
