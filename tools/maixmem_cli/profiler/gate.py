# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The gate: what of a profile, as its JSON has it, is not accepted. Its leaks, but for known ones;
budgets that it does not keep; what it takes more than an earlier run."""

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
from maixmem_cli.profiler.leaks import RECURSION

LEAK, BUDGET = "leak", "over budget"  #: what is wrong
TOLERANCE = "2%"  #: more than a baseline that is fine


@dataclass(frozen=True)
class Limits:
    """Bytes, or None. `max_heap`: of the system heap at its peak; `max_gc_live`: of the GC heap's
    objects that are in use at once; `max_growth`: that a line may keep a round, without it a line
    that keeps more is a leak; `min_free`: of the system heap at its fullest."""

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
    """What is not accepted, and the line that has most of it; line 0: none."""

    text: str
    file: str = ""
    line: int = 0
    what: str = BUDGET

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}" if self.line else self.text

    @property
    def told(self) -> str:
        """With the word for what is wrong."""
        return f"{self.what}: {self}"

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


def breaches(
    told: dict[str, Any],
    limits: Limits,
    old: dict[str, Any] | None = None,
    tolerance: Fraction | None = None,
) -> list[Breach]:
    """Everything that is not accepted, none where the script raised: what it did not come to is no
    saving and no excess. `old`: an earlier run, whose leaks are known."""
    if told["error"]:
        return []
    part = percent(TOLERANCE) if tolerance is None else tolerance
    more = regressions(told, old, part) if old else []
    return [*_leaks(told, limits, old, part), *_budgets(told, limits), *more]


def _leaks(
    told: dict[str, Any], limits: Limits, old: dict[str, Any] | None, tolerance: Fraction
) -> Iterator[Breach]:
    known = {_known(leak): leak["each"] for leak in old["grows"]} if old else {}
    for leak in told["grows"]:
        accepted = [known.get(_known(leak), 0) * (1 + tolerance), limits.max_growth or 0]
        if leak["each"] <= max(accepted):
            continue
        most = f", {int(max(accepted))} are accepted" if max(accepted) else ""
        text = f"{HEAPS[leak['heap']]}: grows {leak['each']} bytes {_a_round(leak)}{most}"
        yield Breach(f"{text}: {leak['text']}", leak["file"], leak["line"], LEAK)


def _a_round(leak: dict[str, Any]) -> str:
    if leak["kind"] == RECURSION:
        return "with each call in itself"
    return "each time" if leak["every"] > 1 or leak["times"] else "a round"


def _known(leak: dict[str, Any]) -> tuple[str, str, str]:
    return leak["heap"], leak["file"], leak["text"] or str(leak["line"])


def _budgets(told: dict[str, Any], limits: Limits) -> Iterator[Breach]:
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
    if limits.max_growth is not None and not told["leaks_looked_for"]:
        yield Breach("leaks were not looked for")


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
    """2 or 2% as a part, of no more than all. ValueError says what is accepted."""
    try:
        part = Fraction(text.strip().rstrip("%")) / 100
    except (ValueError, ZeroDivisionError):
        part = Fraction(-1)
    if not 0 <= part <= 1:
        raise ValueError(f"{text!r} is not a tolerance: write per cent, 0 to 100: 2%")
    return part
