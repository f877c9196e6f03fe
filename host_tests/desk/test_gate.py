# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Budgets, baselines and differences of profiles, on profiles as their JSON has them."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from maixmem_cli.plan.program import project
from maixmem_cli.profiler import compare, gate
from maixmem_cli.profiler.gate import Limits


def line(heap: str, number: int, text: str, nbytes: int) -> dict[str, Any]:
    return {
        "heap": heap,
        "file": "main.py" if number else "",
        "function": "<module>",
        "line": number,
        "text": text,
        "at_peak": nbytes,
        "at_end": nbytes,
        "live": nbytes,
    }


def told(*lines: dict[str, Any], grows: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    sums = {h: sum(n["at_peak"] for n in lines if n["heap"] == h) for h in ("gc", "heap")}
    heaps = {h: {"peak": n, "end": n, "live_peak": n, "total": 5 << 20} for h, n in sums.items()}
    more = {"version": compare.VERSION, "error": "", "leaks_looked_for": True}
    return {**heaps, **more, "lines": list(lines), "grows": grows or []}


def leak(each: int, line: int = 3, text: str = "a = 1", every: float = 1.0) -> dict[str, Any]:
    place = {"heap": "gc", "file": "main.py", "line": line, "text": text}
    return {**place, "each": each, "every": every, "kind": "leak", "times": None}


OLD = told(line("gc", 0, "", 4000), line("gc", 3, "a = 1", 6000), line("heap", 4, "load()", 90000))


def test_a_commit_that_costs_40_kib_is_named() -> None:
    """The line has moved down by others, which cost nothing."""
    new = told(
        line("gc", 0, "", 4000),
        line("gc", 9, "a = 1", 6000),
        line("gc", 10, "b = bytearray(40960)", 40992),
        line("heap", 11, "load()", 90000),
    )
    found = gate.regressions(new, OLD, Fraction(2, 100))
    assert [(b.file, b.line) for b in found] == [("main.py", 10)] * 2
    assert "b = bytearray(40960)" in str(found[0]) and "+40.0 KiB" in str(found[0])
    assert "\n" not in str(found[0])
    assert gate.regressions(OLD, OLD, Fraction(0)) == []
    assert gate.regressions(new, OLD, Fraction(5)) == []
    assert [(c.line, c.more) for c in compare.changes(OLD, new)] == [(10, 40992)]
    assert [(c.line, c.now) for c in compare.changes(new, OLD)] == [(10, 0)]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(max_heap=89999), "main.py:4: system heap: peak 87.8 KiB, 1 B over"),
        (Limits(max_gc_live=5000), "main.py:3: GC heap: live peak"),
        (Limits(min_free=5 << 20), "main.py:4: system heap: 4.9 MiB free"),
    ],
)
def test_each_budget(limits: Limits, words: str) -> None:
    new = copy.deepcopy(OLD)
    found = gate.breaches(new, limits)
    assert len(found) == 1 and str(found[0]).startswith(words)
    wide = Limits(max_heap=90000, max_gc_live=10000, min_free=5000000, max_growth=100)
    assert gate.breaches(new, wide) == []


def test_a_leak_fails_but_for_a_known_one() -> None:
    """A baseline that has it and max_growth accept it; a line is known by its text."""
    new = {**copy.deepcopy(OLD), "grows": [leak(100)]}
    (found,) = gate.breaches(new, Limits())
    assert (found.what, found.line) == (gate.LEAK, 3)
    assert found.told == "leak: main.py:3: GC heap: grows 100 bytes a round: a = 1"
    assert gate.breaches(new, Limits(max_growth=100)) == []
    (found,) = gate.breaches(new, Limits(max_growth=99))
    assert "grows 100 bytes a round, 99 are accepted" in str(found)
    moved = {**copy.deepcopy(OLD), "grows": [leak(101, line=9)]}
    assert gate.breaches(moved, Limits(), new, Fraction(2, 100)) == []
    (found,) = gate.breaches({**moved, "grows": [leak(103)]}, Limits(), new, Fraction(2, 100))
    assert "102 are accepted" in str(found)
    (found,) = gate.breaches({**new, "grows": [leak(100, text="b = 1")]}, Limits(), new)
    assert found.what == gate.LEAK


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "a round"),
        ({"every": 8.0}, "each time"),
        ({"kind": "firmware", "times": 5}, "each time"),
        ({"kind": "recursion"}, "with each call in itself"),
    ],
)
def test_how_often_a_line_keeps_so_much(more: dict[str, Any], words: str) -> None:
    (found,) = gate.breaches(told(grows=[{**leak(100), **more}]), Limits())
    assert f"grows 100 bytes {words}: a = 1" in found.text


def test_a_script_that_raised_has_no_budgets() -> None:
    new = {**copy.deepcopy(OLD), "grows": [leak(100)], "error": "ValueError: mine"}
    assert gate.breaches(new, Limits(max_heap=1, max_growth=0), OLD) == []


def test_what_was_not_measured_is_not_within_budget() -> None:
    new = copy.deepcopy(OLD)
    new["gc"]["live_peak"] = None
    assert "not measured" in str(gate.breaches(new, Limits(max_gc_live=1 << 20))[0])


def test_annotations() -> None:
    breach = gate.Breach("50% more\nof it", "a,b.py", 7)
    assert breach.annotation == "::error file=a%2Cb.py,line=7::50%25 more%0Aof it"
    assert gate.Breach("x").annotation == "::error::x"


def test_tolerances() -> None:
    assert gate.percent("2%") == gate.percent("2") == Fraction(1, 50)
    assert gate.percent("50") == Fraction(1, 2) and gate.percent("100%") == 1
    assert gate.percent("0.5%") == Fraction(1, 200)
    for text in ("-1%", "two", "1/0", "%", "101", "5000%"):
        with pytest.raises(ValueError, match="is not a tolerance"):
            gate.percent(text)


def test_budget_of_a_project(tmp_path: Path) -> None:
    path = tmp_path / "project.toml"
    path.write_text('firmware = "full"\n[budget]\nmax_heap = "4M"\nmax_growth = 0\n')
    assert project.setup(path).limits == Limits(max_heap=4 << 20, max_growth=0)
    assert project.read(path).firmware.name == "full"
    limits = project.setup(path).limits
    assert Limits(max_heap=5).over(limits) == Limits(max_heap=5, max_growth=0)
    for wrong in ("max_heep = 4", "max_heap = -4", 'max_heap = "many"'):
        path.write_text(f"[budget]\n{wrong}\n")
        with pytest.raises(project.ProjectError, match=r"\[budget\]"):
            project.setup(path)


def test_a_baseline_of_another_script_or_firmware_is_named() -> None:
    """A smaller firmware would hide what the script takes more."""
    old = {"script": "main.py", "firmware": "full.bin"}
    assert compare.another(old, dict(old)) == ""
    assert compare.another(old, {**old, "firmware": "minimum.bin"}) == (
        "is of main.py on full.bin, this run of main.py on minimum.bin"
    )
    assert compare.another({}, old) == ""


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"gc": 1}', "\x00", '{"lines": [1]}'])
def test_what_is_no_profile(tmp_path: Path, text: str) -> None:
    path = tmp_path / "old.json"
    path.write_text(text)
    with pytest.raises(compare.NoProfile, match="Next:") as e:
        compare.load(path)
    assert "Error(" not in str(e.value)  # words, no name of Python's
    path.write_text(json.dumps({**OLD, "version": 1}))
    with pytest.raises(compare.NoProfile, match="it has version 1, this maixmem writes"):
        compare.load(path)
    path.write_text(json.dumps(OLD))
    assert compare.load(path) == OLD
