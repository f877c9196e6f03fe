# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Two profiles of a script, as their JSON has them: which lines came, went and grew."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maixmem_report import kib

from maixmem_cli.text import reading

VERSION = 2  #: of what `profile --json` prints; profile.schema.json describes it
HEAPS = {"gc": "GC heap", "heap": "system heap"}


class NoProfile(ValueError):
    """A file that `profile --json` did not write."""


@dataclass(frozen=True)
class Change:
    """What a line has at the peak of a heap, in bytes, before and now. A line is known by its
    text: its number may have moved. `line` is that of now, or of before where it is gone."""

    heap: str
    file: str
    line: int
    text: str
    before: int
    now: int

    @property
    def more(self) -> int:
        return self.now - self.before

    def __str__(self) -> str:
        word = "came" if not self.before else "went" if not self.now else "changed"
        sizes = f"{kib(self.before)} -> {kib(self.now)}"
        where = f"{self.file}:{self.line or '?'}" if self.file else "(not a line of Python)"
        name = f"{HEAPS[self.heap]:12}"
        return f"{word:8}{signed(self.more):>12}  {name}{sizes:22}  {where}  {self.text}"


def signed(nbytes: int) -> str:
    """+40.0 KiB."""
    return f"{'-' if nbytes < 0 else '+'}{kib(abs(nbytes))}"


def load(path: Path) -> dict[str, Any]:
    """A profile that was kept. NoProfile says what is wrong with the file."""
    try:
        told = json.loads(reading.text(path))
        if (version := told["version"]) != VERSION:
            raise _no_profile(path, f"it has version {version}, this maixmem writes {VERSION}")
        for leak in told["grows"]:
            leak["heap"], leak["file"], leak["text"], leak["line"], leak["each"] + 0
        for heap in HEAPS:
            told[heap]["peak"] + told[heap]["end"]
        for n in told["lines"]:
            n["heap"], n["file"], n["function"], n["text"], n["line"], n["at_peak"] + 0
    except json.JSONDecodeError as e:
        raise _no_profile(path, f"it is no JSON from line {e.lineno} on") from e
    except (TypeError, KeyError, UnicodeError) as e:
        raise _no_profile(path, "profile --json did not write it") from e
    return told


def _no_profile(path: Path, why: str) -> NoProfile:
    return NoProfile(f"{path} is no profile: {why}. Next: maixmem profile SCRIPT --json -o {path}")


def another(old: dict[str, Any], new: dict[str, Any]) -> str:
    """What an earlier profile is of, where that is another script or firmware; else ""."""
    before, now = (
        f"{told.get('script')} on {told.get('firmware')}" if "script" in told else ""
        for told in (old, new)
    )
    return f"is of {before}, this run of {now}" if before and before != now else ""


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    """Every line that has another number of bytes at the peak, those with most more first."""
    before, now = _by_text(old), _by_text(new)
    number = {
        **{_key(n): n["line"] for n in old["lines"]},
        **{_key(n): n["line"] for n in new["lines"]},
    }
    found = [
        Change(key[0], key[1], number[key], key[3], before[key], now[key])
        for key in before.keys() | now.keys()
        if before[key] != now[key]
    ]
    return sorted(found, key=lambda c: (-c.more, c.file, c.line, c.heap))


def _key(line: dict[str, Any]) -> tuple[str, str, str, str]:
    text = line["text"] or str(line["line"] or "")  # a file that is not here has numbers only
    return line["heap"], line["file"], line["function"], text


def _by_text(told: dict[str, Any]) -> Counter[tuple[str, str, str, str]]:
    out: Counter[tuple[str, str, str, str]] = Counter()
    for n in told["lines"]:
        out[_key(n)] += n["at_peak"]
    return out


def text(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The peaks of both runs, then each line that changed."""
    out = []
    for heap, name in HEAPS.items():
        a, b = old[heap]["peak"], new[heap]["peak"]
        out.append(f"{name}: peak {kib(a)} -> {kib(b)} ({signed(b - a)})")
    found = changes(old, new)
    return [*out, *(str(c).rstrip() for c in found if c.before or c.now)]
