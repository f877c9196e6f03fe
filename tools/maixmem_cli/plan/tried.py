# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The remedies of a script's end, tried one after the other: each as a change, on a board of its
own."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from maixmem_k210_gc import MIN_GC_HEAP

from maixmem_cli.answer.answer import PROVED, Answer, Step
from maixmem_cli.answer.facts import input_sizes
from maixmem_cli.answer.tables import remedy_text, words
from maixmem_cli.answer.values import Facts
from maixmem_cli.record.record import GC, LIMIT
from maixmem_cli.runs.change import Edit

_STEP = 64 << 10  # of the GC heap: to the byte it would break with the next line
_FEW = 12  # changes that are tried where nobody asked for more


@dataclass(frozen=True)
class Bench:
    """Where changes are tried: runs/trial.py, with what lies on its board and the smaller
    firmwares that it could have instead."""

    place: Any
    flash: tuple[tuple[int, Path], ...] = ()
    sd: Path | None = None
    smaller: Sequence[str] = field(default_factory=tuple)


def candidates(source: str, facts: Facts, bench: Bench) -> list[Edit]:
    """The changes that may help against such an end, the likely before the others, each in the
    order of its cost. SyntaxError for what is no Python; ImportError without libcst, which comes
    with the extra [board] and is in no page."""
    from maixmem_cli.plan.edits import against_leaks, edits, likely_first

    pictures = sizes(bench.flash, bench.sd)
    board = (pictures, bench.flash, bench.smaller, gc_heaps(facts))
    found = list(edits(source, *board))
    if "grows_at" in facts and "heap" not in facts:
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


def sizes(flash: Sequence[tuple[int, Path]], sd: Path | None) -> list[tuple[int, int]]:
    """Widths and heights of the pictures that these models take."""
    files = [path for _, path in flash] + (sorted(sd.rglob("*.kmodel")) if sd else [])
    return [size for file in files for size in input_sizes(str(file))]


def runs(tried: Sequence[Edit], place: Any, run: Any) -> Iterator[tuple[Edit, Any]]:
    """Each change with its run, in order; so many run at a time. What still runs when no more are
    wanted is ended."""
    with ThreadPoolExecutor(place.at_once) as pool:
        todo = list(tried)
        running: list[tuple[Edit, Any]] = []
        try:
            while todo or running:
                while todo and len(running) < place.at_once:
                    following = todo.pop(0)
                    running.append((following, pool.submit(run, following)))
                edit, future = running.pop(0)
                yield edit, future.result()
        finally:
            place.stop()


def proved(
    answer: Answer, script: Path, source: str, bench: Bench, frames: int, before: Any
) -> Answer:
    """The answer with the first remedy that runs; as it is where none of a few does, or none can
    be tried. `before`: the trial without a change."""
    try:
        tried = candidates(source, answer.facts, bench)[:_FEW]
    except (SyntaxError, ImportError):
        return answer
    failed: list[tuple[Edit, Any]] = []
    for edit, after in runs(tried, bench.place, lambda e: bench.place.run(script, e, frames)):
        if before.cured(after):
            found = without(answer, [e.kind for e, _ in failed])
            return with_step(found, edit, source, script.name, bench.place.where, after)
        failed.append((edit, after))
    return none_helps(answer, failed, bench.place.where, before.frames)


def without(answer: Answer, failed: Sequence[str]) -> Answer:
    """The answer without the steps that were tried in vain."""
    steps = [s for s in (answer.step, *answer.others) if s and s.key not in failed]
    return replace(answer, step=steps[0] if steps else None, others=tuple(steps[1:]))


def none_helps(
    answer: Answer, failed: Sequence[tuple[Edit, Any]], where: str, pictures: int = 0
) -> Answer:
    """The answer where nothing that was tried runs; what was not tried remains. The one that came
    further than the script, in `pictures`, is named with what stopped it there."""
    if not failed:
        return answer
    left = without(answer, [*(edit.kind for edit, _ in failed), "cure"])
    if left.step is None:
        left = replace(left, step=Step("smaller", remedy_text("smaller", answer.language)))
    known = words(answer.language)
    text = known["not_run"].format(count=len(failed), on=where)
    best = max(failed, key=lambda row: row[1].frames, default=None)
    if best and best[1].frames > pictures and not best[1].good:
        edit, after = best
        said = edit.text(answer.language, answer.facts)
        why = " ".join(line.strip() for line in after.why[-1:])
        text += known["furthest"].format(pictures=after.frames, text=said, why=why)
    return replace(left, proof=text)


def with_step(
    answer: Answer, edit: Edit, source: str, name: str, where: str, after: Any
) -> Answer:
    """The answer with a change as its first step, which ran."""
    text = edit.text(answer.language, answer.facts)
    step = Step(edit.kind, text, PROVED, diff(source, edit.source, name))
    said = words(answer.language)["ran" if after.kind == LIMIT else "ran_to_end"]
    return answer.first(step, said.format(pictures=after.frames, on=where))


def diff(source: str, changed: str, name: str) -> str:
    """What a change changes, as a diff."""
    old, new = source.splitlines(keepends=True), changed.splitlines(keepends=True)
    lines = difflib.unified_diff(old, new, name, f"{name} (cured)")
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
