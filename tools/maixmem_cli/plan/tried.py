# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The remedies of a script's end, tried one after the other: each as a change, on a board of its
own; where none of them runs alone, two together."""

from __future__ import annotations

import difflib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, Optional

from maixmem_k210_gc import MIN_GC_HEAP

from maixmem_cli.answer import facts as of_runs
from maixmem_cli.answer.answer import PROVED, Answer, Step
from maixmem_cli.answer.answer import answer as answer_of
from maixmem_cli.answer.facts import input_sizes
from maixmem_cli.answer.tables import board_text, remedies, words
from maixmem_cli.answer.values import Facts
from maixmem_cli.plan.pairs import pairs
from maixmem_cli.profiler import growth
from maixmem_cli.record.record import GC, LIMIT, Board, Record
from maixmem_cli.runs.change import Edit
from maixmem_cli.runs.trials import Trials, cured

_STEP = 64 << 10  # of the GC heap: to the byte it would break with the next line
_ROOM = 2 / 3  # of it, for one list
_FEW = 12  # changes that are tried where nobody asked for more
_AS_FAR = 3  # times as the script came
_PICTURES, _MOST = growth.LEAST + 5, 100  # that a remedy has to run for
_SECONDS = 30.0  # of CPU; behind these no two begin together


@dataclass(frozen=True)
class Bench:
    """Where changes are tried, with what lies on its board and the other firmwares that it could
    have instead."""

    place: Trials
    flash: tuple[tuple[int, Path], ...] = ()
    sd: Path | None = None
    firmwares: Sequence[tuple[str, str]] = ()  #: (the remedy that each is, its name or file)


def candidates(source: str, facts: Facts, bench: Bench) -> list[Edit]:
    """The changes that may help against such an end, the likely before the others, each in the
    order of its cost. SyntaxError for what is no Python; ImportError without libcst, which comes
    with the extra [board]."""
    from maixmem_cli.plan.edits import against_leaks, edits, likely_first

    pictures = sizes(bench.flash, bench.sd)
    board = (pictures, bench.flash, bench.firmwares, gc_heaps(facts), last(facts))
    found = list(edits(source, *board))
    if "grows_at" in facts and facts.get("heap", facts["grows_heap"]) == facts["grows_heap"]:
        found = against_leaks(found)
    return likely_first(found, facts, source)


def gc_heaps(facts: Facts) -> list[int]:
    """Sizes of the GC heap that could help: the nearest with some room to spare, then others."""
    from maixmem_cli.plan.script_tree import GC_HEAPS

    now, heap = facts.get("gc_heap"), facts.get("heap")
    if not isinstance(now, int) or heap is None:
        return [*GC_HEAPS]
    requested, largest = facts.get("requested"), facts.get("largest")
    near = []
    if isinstance(requested, int) and isinstance(largest, int):
        if heap == GC:
            near = [-(-(now + requested) // _STEP) * _STEP]
        else:
            near = [(now - max(0, requested - largest) - _STEP) // _STEP * _STEP]
    found = [n for n in (*near, *GC_HEAPS) if (n > now if heap == GC else MIN_GC_HEAP <= n < now)]
    return list(dict.fromkeys(found))


def last(facts: Facts) -> int:
    """Entries of a list for which the GC heap has room, if each is as large as what a round keeps,
    else as what was requested, and if each picture made one: half of those with which it was
    full."""
    from maixmem_cli.plan.script_tree import LAST

    if facts.get("heap") != GC:
        return LAST
    room = [LAST]
    if pictures := _number(facts, "pictures"):
        room.append(pictures // 2)
    if each := _number(facts, "grows_each") or _number(facts, "requested"):
        room.append(int(_ROOM * _number(facts, "gc_heap")) // each or LAST)
    return max(1, min(room))


def _number(facts: Facts, name: str) -> int:
    """0: not known."""
    value = facts.get(name)
    return value if isinstance(value, int) else 0


def sizes(flash: Sequence[tuple[int, Path]], sd: Path | None) -> list[tuple[int, int]]:
    """Widths and heights of the pictures that these models take."""
    files = [path for _, path in flash] + (sorted(sd.rglob("*.kmodel")) if sd else [])
    return [size for file in files for size in input_sizes(str(file))]


class _InTurn(Executor):
    """What is submitted is done before submit() returns."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def runs(
    parts: Iterable[Iterable[Edit]], script: Path, before: Record, bench: Bench, frames: int
) -> Iterator[tuple[Edit, Record]]:
    """Each change with its run, in order; a part begins when the one before it is over. After the
    likeliest so many begin at a time; past its first pictures goes the foremost alone. What still
    runs when no more are wanted is ended. `before`: the run without a change."""
    place = bench.place
    with ThreadPoolExecutor(place.at_once) if place.at_once > 1 else _InTurn() as pool:
        at_once = 1
        running: list[tuple[Edit, Event, Future[Record]]] = []
        try:
            for todo in map(iter, parts):
                while True:
                    for edit in itertools.islice(todo, at_once - len(running)):
                        its_turn = Event()
                        if not running:
                            its_turn.set()
                        begun = pool.submit(place.run, script, edit, frames, before, its_turn.wait)
                        running.append((edit, its_turn, begun))
                    if not running:
                        break
                    edit, its_turn, begun = running.pop(0)
                    its_turn.set()
                    yield edit, begun.result()
                    at_once = place.at_once
        finally:
            place.stop()
            for _, its_turn, _ in running:
                its_turn.set()


def enough(before: Record) -> int:
    """Pictures that a change has to run for: three times as far as the script came, at most as
    many as that was to take; all of these where something grew and where it took none."""
    asked = before.asked or 0
    if before.end.kind == LIMIT or not before.pictures:
        return asked
    return min(asked, max(_PICTURES, _AS_FAR * before.pictures))


#: a change and the answer with it; the answer alone, where none is left; None: it does not run
Tried = Optional[tuple[Optional[Edit], Answer]]


def proofs(
    answer: Answer, script: Path, source: str, bench: Bench, before: Record
) -> Iterator[Tried]:
    """The first few remedies, one tried at each step, so that a caller can stop in between; the
    answer as it is where none can be tried. `before`: the run without a change."""
    try:
        tried = candidates(source, answer.facts, bench)[:_FEW]
    except (SyntaxError, ImportError):
        yield None, answer
        return
    frames = max(_PICTURES, min(before.asked or 0, _MOST))
    yield from tries(answer, tried, script, source, bench, before, frames)


def tries(
    answer: Answer,
    tried: Sequence[Edit],
    script: Path,
    source: str,
    bench: Bench,
    before: Record,
    frames: int,
) -> Iterator[Tried]:
    """Each change, tried: with which the script runs, as the first step of the answer; where there
    is none, two together, and at last the answer that says so."""
    failed: list[tuple[Edit, Record]] = []
    helps, until = False, _cpu() + _SECONDS

    def together() -> Iterator[Edit]:
        if not helps:
            both = pairs(failed, before, lambda text: candidates(text, answer.facts, bench))
            yield from itertools.takewhile(lambda edit: _cpu() < until, both)

    for edit, after in runs((tried, together()), script, before, bench, frames):
        if cured(before, after):
            helps = True
            left = without(answer, [*(e.kind for e, _ in failed), "cure"])
            yield edit, with_step(left, edit, source, script.name, after)
        else:
            failed.append((edit, after))
            yield None
    if not helps:
        yield None, none_helps(answer, failed, bench.place.board, before)


def _cpu() -> float:
    """Seconds of CPU that this process and those it began have had."""
    return sum(os.times()[:4])


def without(answer: Answer, failed: Sequence[str]) -> Answer:
    """The answer without the steps that were tried in vain."""
    steps = [s for s in (answer.step, *answer.others) if s and s.key not in failed]
    return replace(answer, step=steps[0] if steps else None, others=tuple(steps[1:]))


def none_helps(
    answer: Answer, failed: Sequence[tuple[Edit, Record]], board: Board, before: Record
) -> Answer:
    """The answer where nothing that was tried runs; what was not tried remains. The one that came
    further than the script, where that stopped, is named with what stopped it there."""
    if not failed:
        return answer
    left = without(answer, [*(edit.kind for edit, _ in failed), "cure"])
    if left.step is None:
        left = replace(left, step=less(answer.facts, answer.language))
    known = words(answer.language)
    text = known["not_run"].format(count=len(failed), on=board_text(board, answer.language))
    edit, after = max(failed, key=lambda row: row[1].pictures)
    if after.pictures > before.pictures and not after.ends_well and before.end.kind != LIMIT:
        said = edit.text(answer.language, answer.facts)
        text += known["furthest"].format(
            pictures=after.pictures, text=said, why=_cause(after, answer.language)
        )
    return replace(left, proof=text)


def less(facts: Facts, language: str) -> Step | None:
    """To use less, of what this program has."""
    known = {**facts, "none_helps": "yes"}
    fitting = (r for r in remedies().values() if "none_helps" in r.when and r.applies(known))
    texts = ((r.key, r.text(known, language)) for r in fitting)
    return next((Step(key, text) for key, text in texts if text), None)


def _cause(of: Record, language: str) -> str:
    return answer_of(of_runs.of_record(of), language).cause


def with_step(answer: Answer, edit: Edit, source: str, name: str, after: Record) -> Answer:
    """The answer with a change as its first step, which ran."""
    text = edit.text(answer.language, answer.facts)
    step = Step(edit.kind, text, PROVED, diff(source, edit.source, name))
    took = {0: "ran_for", 1: "ran_one"}.get(after.pictures, "ran")
    key = took if after.end.kind == LIMIT else "ran_to_end"
    on = board_text(after.board, answer.language)
    values = {"pictures": after.pictures, "seconds": round(after.seconds), "on": on}
    return answer.first(step, words(answer.language)[key].format(**values))


def diff(source: str, changed: str, name: str) -> str:
    """What a change changes, as a diff."""
    old, new = source.splitlines(keepends=True), changed.splitlines(keepends=True)
    lines = difflib.unified_diff(old, new, name, f"{name} (cured)")
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
