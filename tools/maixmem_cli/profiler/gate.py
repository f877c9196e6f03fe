# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Budgets of memory: what a profile, as its JSON has it, may take; and what it does not keep."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from maixmem_report import kib

from maixmem_cli.profiler import compare
from maixmem_cli.profiler.compare import HEAPS, signed


@dataclass(frozen=True)
class Limits:
    """Bytes, or None. `max_heap`: of the system heap at its peak; `max_gc_live`: of the GC heap's
    objects that are in use at once; `max_growth`: that a line keeps a round; `min_free`: of the
    system heap at its fullest."""

    max_heap: int | None = None
    max_gc_live: int | None = None
    max_growth: int | None = None
    min_free: int | None = None

    def over(self, other: Limits) -> Limits:
        """These, and of the other those that are not given here."""
        both = {f.name: getattr(self, f.name) for f in fields(self)}
        return Limits(**{n: getattr(other, n) if v is None else v for n, v in both.items()})


@dataclass(frozen=True)
class Breach:
    """A budget that is not kept, and the line that has most of it; line 0: none."""

    text: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}" if self.line else self.text

    def in_folder(self, folder: Path) -> Breach:
        """With the file as it is named from here."""
        return replace(self, file=(folder / self.file).as_posix() if self.file else "")

    @property
    def annotation(self) -> str:
        """As GitHub Actions reads it from what a step prints."""
        at = f" file={_escaped(self.file, ':,')},line={self.line}" if self.line else ""
        return f"::error{at}::{_escaped(self.text)}"


def _escaped(text: str, more: str = "") -> str:
    for c in "%\r\n" + more:
        text = text.replace(c, f"%{ord(c):02X}")
    return text


def annotated() -> bool:
    """Whether the environment says that GitHub Actions reads along."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def breaches(told: dict[str, Any], limits: Limits) -> list[Breach]:
    """Each budget that the run did not keep."""
    return list(_breaches(told, limits))


def _breaches(told: dict[str, Any], limits: Limits) -> Iterator[Breach]:
    gc, heap = told["gc"], told["heap"]
    if limits.max_heap is not None and heap["peak"] > limits.max_heap:
        yield _most(told, "heap", "at_peak", f"{_over('peak', heap['peak'], limits.max_heap)}")
    free = heap["total"] - heap["peak"]
    if limits.min_free is not None and free < limits.min_free:
        text = f"{kib(free)} free at the peak, {kib(limits.min_free - free)} too little"
        yield _most(told, "heap", "at_peak", text)
    if limits.max_gc_live is not None and gc["live_peak"] is None:
        yield Breach("GC heap: the live peak was not measured")
    elif limits.max_gc_live is not None and gc["live_peak"] > limits.max_gc_live:
        yield _most(told, "gc", "live", _over("live peak", gc["live_peak"], limits.max_gc_live))
    for leak in told["grows"]:
        if limits.max_growth is not None and leak["each"] > limits.max_growth:
            text = f"{HEAPS[leak['heap']]}: grows {leak['each']} bytes a round, budget "
            yield Breach(f"{text}{limits.max_growth}: {leak['text']}", leak["file"], leak["line"])


def _over(what: str, used: int, budget: int) -> str:
    return f"{what} {kib(used)}, {kib(used - budget)} over the budget of {kib(budget)}"


def _most(told: dict[str, Any], heap: str, key: str, text: str) -> Breach:
    lines = [n for n in told["lines"] if n["heap"] == heap and n["line"]]
    worst = max(lines, key=lambda n: n.get(key, 0), default=None)
    text = f"{HEAPS[heap]}: {text}"
    if not worst or not worst.get(key):
        return Breach(text)
    return Breach(f"{text}; most: {worst['text']}", worst["file"], worst["line"])


def regressions(told: dict[str, Any], old: dict[str, Any], tolerance: Fraction) -> list[Breach]:
    """What a run takes more than an earlier one, by more than a part of it: peaks and ends."""
    grown, out = compare.changes(old, told), []
    for heap, name in HEAPS.items():
        for what, word in (("peak", "peak"), ("end", "held at the end")):
            now, before = told[heap][what], old[heap][what]
            if now <= before * (1 + tolerance):
                continue
            text = f"{name}: {word} {kib(before)} -> {kib(now)}, {signed(now - before)}"
            worst = next((c for c in grown if c.heap == heap and c.line and c.more > 0), None)
            if worst:
                more = f"{text}; {signed(worst.more)}: {worst.text}"
                out.append(Breach(more, worst.file, worst.line))
            else:
                out.append(Breach(text))
    return out


def percent(text: str) -> Fraction:
    """2% or 0.02 as a part. ValueError says what is accepted."""
    try:
        part = Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)
    except (ValueError, ZeroDivisionError):
        part = Fraction(-1)
    if part < 0:
        raise ValueError(f"{text!r} is not a tolerance: write 2% or 0.02")
    return part
